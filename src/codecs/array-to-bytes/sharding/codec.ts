import { isFixed } from "../../../meta/data-type.ts";
import { type Buffers, joinBytes } from "../../../util/buffers.ts";
import { isZarrflowError, ZarrflowError } from "../../../util/errors.ts";
import { coordsOf, product } from "../../../util/shape.ts";
import type { ChunkData } from "../../chunk-data.ts";
import type { ArrayToBytesCodec, CodecPipeline, NestingCodecFactory } from "../../codec.ts";
import { corrupt, partFailure } from "../../failures.ts";
import { isFilled } from "../../filled-data.ts";
import { foreignSizeBound, MAX_CHUNK_SIZE } from "../../limits.ts";
import { type InnerRange, ShardIndex } from "./entries.ts";
import { fixedBoxes } from "./fixed.ts";
import { type ShardFormat, shardFormat } from "./format.ts";
import { variableBoxes } from "./variable.ts";

/**
 * `sharding_indexed`: a shard of inner chunks, each encoded on its own, and an index of their positions. This codec
 * handles a whole shard at once. Encoding leaves out inner chunks that contain only the fill value. Shards of other
 * writers may store inner chunks in any order, with gaps, and with shared bytes.
 */
export const loadSharding: NestingCodecFactory = async (configuration, { spec, pipelineOf }) => {
  if (pipelineOf === undefined) {
    throw new ZarrflowError("invalid-option", "a shard cannot be encoded without its array");
  }
  const format = await shardFormat(configuration, spec.shape, pipelineOf);
  const inner = await pipelineOf(format.codecs, { ...spec, shape: format.chunkShape });
  const { chunkShape, grid } = format;
  // The size of variable data is not known in advance.
  const maxInnerSize = isFixed(spec.dataType) ? foreignSizeBound(inner.maxEncodedSize) : MAX_CHUNK_SIZE;
  const partsSize = product(grid) * inner.maxEncodedSize;
  const boxes = isFixed(spec.dataType)
    ? fixedBoxes(spec, chunkShape, { strides: inner.strides, itemSize: spec.dataType.size })
    : variableBoxes(spec, chunkShape);

  return {
    kind: "array-to-bytes",
    name: "sharding_indexed",
    encodedSize: undefined,
    maxEncodedSize: partsSize + format.indexSize,
    scratchSize: partsSize + inner.decodedSize + inner.scratchSize,
    async decode(bytes, buffers) {
      const index = await readIndex(bytes, format);
      const shard = boxes.begin(buffers);
      try {
        let chunk = 0;
        for (const coords of coordsOf(grid)) {
          const number = chunk++;
          if (index.isEmpty(number)) continue;
          await named(coords, async () => {
            const range = index.rangeOf(number, bytes.length);
            if (range === undefined) return;
            const encoded = copyOf(bytes, range, maxInnerSize, buffers);
            shard.add(await inner.decode(encoded, buffers), coords);
          });
        }
        const data = shard.finish();
        buffers.give(bytes);
        return data;
      } catch (error) {
        shard.discard();
        throw error;
      }
    },
    async encode(data, buffers) {
      const index = ShardIndex.empty(product(grid));
      const parts: Uint8Array[] = [];
      const indexAtStart = format.indexLocation === "start";
      let end = indexAtStart ? format.indexSize : 0;
      try {
        let chunk = 0;
        for (const coords of coordsOf(grid)) {
          const number = chunk++;
          const part = await named(coords, () =>
            encodeInner(boxes.cut(data, coords, buffers), inner, buffers),
          );
          if (part === undefined) continue;
          parts.push(part);
          index.set(number, { offset: end, length: part.length });
          end += part.length;
        }
        const encodedIndex = await format.encodeIndex(index);
        const all = indexAtStart ? [encodedIndex, ...parts] : [...parts, encodedIndex];
        const shard = joinBytes(all, (byteLength) => buffers.take(byteLength));
        buffers.give(data.bytes);
        return shard;
      } finally {
        for (const part of parts) buffers.give(part);
      }
    },
  } satisfies ArrayToBytesCodec;
};

/** @throws `corrupt-chunk` */
function readIndex(
  shard: Uint8Array,
  { indexLocation, indexSize, decodeIndex }: ShardFormat,
): Promise<ShardIndex> {
  return decodeIndex(indexLocation === "start" ? shard.slice(0, indexSize) : shard.slice(-indexSize));
}

/** Copies an encoded inner chunk to its own buffer: codecs work in place, and inner chunks may share bytes. */
function copyOf(
  shard: Uint8Array,
  { offset, length }: InnerRange,
  maxSize: number,
  buffers: Buffers,
): Uint8Array {
  if (length > maxSize) {
    throw corrupt("the inner chunk is larger than its metadata can account for", {
      expected: `at most ${maxSize} bytes`,
      found: `${length} bytes`,
    });
  }
  const bytes = buffers.take(length);
  bytes.set(shard.subarray(offset, offset + length));
  return bytes;
}

/** Encodes an inner chunk; returns undefined if it contains only the fill value. Takes ownership of `data`. */
async function encodeInner(
  data: ChunkData,
  inner: CodecPipeline,
  buffers: Buffers,
): Promise<Uint8Array | undefined> {
  const { fillValue } = inner.spec;
  if (fillValue === null || !isFilled(data, fillValue)) return inner.encode(data, buffers);
  buffers.give(data.bytes);
  return undefined;
}

async function named<T>(coords: readonly number[], run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw isZarrflowError(error) ? partFailure(`inner chunk ${coords.join(".") || "0"}`, error) : error;
  }
}
