import { isFixed } from "../../meta/data-type.ts";
import type { Buffers } from "../../util/bytes.ts";
import { product } from "../../util/shape.ts";
import type { ChunkBox, PartFinder } from "../chunk-data.ts";
import type { BytesToBytesCodec, ChunkSpec, PlacedCodec } from "../codec.ts";
import { codecFailure, corrupt } from "../limits.ts";

/** A partial decode must save at least half of the bytes, and at least this many bytes of reading or of decoding. */
const MIN_SPARED = { reading: 128 * 1024, decoding: 16 * 1024 };

/**
 * Returns a finder of parts that can be decoded alone. Works for items stored plainly or after one codec that decodes
 * ranges; undefined for all other chains.
 *
 * @param strides layout of a decoded chunk, in items
 */
export function partFinder(
  chain: readonly PlacedCodec[],
  spec: ChunkSpec,
  strides: readonly number[],
): PartFinder | undefined {
  const codecs = chain.map(({ codec }) => codec).filter(({ name }) => name !== "transpose");
  const [packing, compressor, ...others] = codecs;
  if (!isFixed(spec.dataType) || packing?.kind !== "array-to-bytes" || others.length > 0) return undefined;
  const { decodeItems } = packing;
  if (decodeItems === undefined) return undefined;
  if (compressor && (compressor.kind !== "bytes-to-bytes" || !compressor.decodeRangeInto)) return undefined;
  const least = compressor ? MIN_SPARED.decoding : MIN_SPARED.reading;
  const itemSize = spec.dataType.size;
  const size = product(spec.shape) * itemSize;
  const byStride = spec.shape.map((_, d) => d).sort((a, b) => (strides[b] ?? 0) - (strides[a] ?? 0));

  return (box) => {
    const { start, shape } = runAround(box, spec.shape, byStride);
    const offset = start.reduce((sum, from, d) => sum + from * (strides[d] ?? 0), 0) * itemSize;
    const length = product(shape) * itemSize;
    if (size - length < Math.max(least, length)) return undefined;
    return {
      start,
      shape,
      ...(compressor === undefined && { range: { offset, length, size } }),
      async decode(encoded, buffers) {
        const part = { offset, length, size };
        const bytes = compressor
          ? await decodeRange(compressor as BytesToBytesCodec, encoded, part, buffers)
          : encoded;
        try {
          assertLength(bytes, length);
          decodeItems(bytes);
        } catch (error) {
          buffers.give(bytes);
          throw codecFailure(error, packing.name, "decode");
        }
        return { kind: "fixed", bytes, itemSize, shape, strides };
      },
    };
  };
}

/** The smallest box around another box whose items are contiguous: complete in all but the outermost dimensions. */
function runAround(box: ChunkBox, chunk: readonly number[], byStride: readonly number[]): ChunkBox {
  const start = chunk.map(() => 0);
  const shape = [...chunk];
  for (const d of byStride) {
    start[d] = box.start[d] ?? 0;
    shape[d] = box.shape[d] ?? 1;
    if (shape[d] !== 1) break;
  }
  return { start, shape };
}

async function decodeRange(
  codec: BytesToBytesCodec,
  encoded: Uint8Array,
  { offset, length, size }: { readonly offset: number; readonly length: number; readonly size: number },
  buffers: Buffers,
): Promise<Uint8Array> {
  let target: Uint8Array | undefined;
  try {
    const stated = codec.statedDecodedSize?.(encoded) ?? size;
    if (stated !== size)
      throw corrupt("the value states a different size", { expected: size, found: stated });
    target = buffers.take(length);
    await codec.decodeRangeInto?.(encoded, offset, target);
    return target;
  } catch (error) {
    if (target) buffers.give(target);
    throw codecFailure(error, codec.name, "decode");
  } finally {
    buffers.give(encoded);
  }
}

function assertLength(bytes: Uint8Array, length: number): void {
  if (bytes.length === length) return;
  throw corrupt("the length of the chunk does not match its shape and data type", {
    expected: `${length} bytes of it`,
    found: bytes.length,
  });
}
