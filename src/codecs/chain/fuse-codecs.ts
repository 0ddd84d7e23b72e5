import { type DataType, isFixed, VARIABLE_ITEM_SIZE } from "../../meta/data-type.ts";
import { isPromise } from "../../util/awaitable.ts";
import { type Buffers, plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { cStrides, product } from "../../util/shape.ts";
import type { ChunkData } from "../chunk-data.ts";
import type {
  ArrayToBytesCodec,
  BytesToBytesCodec,
  ChunkPlace,
  ChunkSpec,
  Codec,
  CodecPipeline,
  PlacedCodec,
} from "../codec.ts";
import { assertChunk, type ChunkForm, type CodecCall, codecCall } from "./codec-step.ts";
import { partFinder } from "./partial-decode.ts";

const OFFSET_SIZE = 4;

export interface FuseOptions {
  /** Average size of an item of varying size, in bytes; only for estimates. */
  readonly variableItemSize?: number | undefined;
}

/**
 * Fuses a chain of codecs into one call each way. The sizes computed through the chain bound the output of each
 * decoder. The last codec decodes straight into the buffer that is returned.
 */
export function fuseCodecs(
  chain: readonly PlacedCodec[],
  spec: ChunkSpec,
  { variableItemSize = VARIABLE_ITEM_SIZE }: FuseOptions = {},
): CodecPipeline {
  const decoders = chain.map((placed) => codecCall(placed, "decode")).reverse();
  const encoders = chain.map((placed) => codecCall(placed, "encode"));
  const strides = layoutOf(chain, spec);
  const decodedSize = sizeOf(spec, variableItemSize);
  const { maxEncodedSize, scratchSize, pooledScratchSize } = measure(chain, decodedSize, spec);

  return {
    spec,
    strides,
    decodedSize,
    maxEncodedSize,
    scratchSize,
    pooledScratchSize,
    partOf: partFinder(chain, spec, strides),
    decodeMissing: decodeMissingOf(chain[0]?.codec),
    async decode(encoded, buffers, place) {
      return assertChunk(await through(decoders, encoded, buffers, place), spec, strides);
    },
    async encode(data, buffers) {
      assertLayout(data, spec, strides, buffers);
      return (await through(encoders, data, buffers)) as Uint8Array;
    },
  };
}

/** Runs a chunk through all codecs; awaits only promises. */
async function through(
  calls: readonly CodecCall[],
  chunk: ChunkForm,
  buffers: Buffers,
  place?: ChunkPlace,
): Promise<ChunkForm> {
  let form = chunk;
  for (const call of calls) {
    const result = call(form, buffers, place);
    form = isPromise(result) ? await result : result;
  }
  return form;
}

function decodeMissingOf(codec: Codec | undefined): CodecPipeline["decodeMissing"] {
  return codec?.kind === "array-to-array" ? codec.decodeMissing : undefined;
}

/** Strides that the array -> array codecs give to data of the array's own shape. */
function layoutOf(chain: readonly PlacedCodec[], spec: ChunkSpec): readonly number[] {
  const codecs = chain.map(({ codec }) => codec).filter((codec) => codec.kind === "array-to-array");
  let { shape } = codecs.reduce((encoded, codec) => codec.encodedSpec(encoded), spec);
  let strides: readonly number[] = cStrides(shape);
  const bytes = new Uint8Array(0);
  for (const codec of codecs.toReversed()) {
    if (codec.decodedStrides) {
      strides = codec.decodedStrides;
      continue;
    }
    const seen = codec.decode({ kind: "fixed", bytes, itemSize: 1, shape, strides }, plainBuffers);
    if ("kind" in seen && seen.kind === "fixed") ({ shape, strides } = seen);
  }
  return isFixed(spec.dataType) ? strides : cStrides(spec.shape);
}

/** Bytes of a decoded chunk; for variable data an estimate that includes offsets. */
function sizeOf({ dataType, shape }: ChunkSpec, variableItemSize: number): number {
  const items = product(shape);
  return isFixed(dataType) ? items * dataType.size : items * (variableItemSize + OFFSET_SIZE) + OFFSET_SIZE;
}

/** The largest encoded size, and the most bytes that one step holds besides the pipeline's input and output. */
function measure(
  chain: readonly PlacedCodec[],
  decodedSize: number,
  spec: ChunkSpec,
): Pick<CodecPipeline, "maxEncodedSize" | "scratchSize" | "pooledScratchSize"> {
  const { dataType } = spec;
  const codecs = chain.filter(isOfKind<BytesToBytesCodec>("bytes-to-bytes"));
  const packing = chain.find(isOfKind<ArrayToBytesCodec>("array-to-bytes"))?.codec;
  // Variable data are packed and transposed in separate buffers, fixed data in place.
  let scratchSize = (isFixed(dataType) ? 0 : decodedSize) + (packing?.scratchSize ?? 0);
  let pooledScratchSize = scratchSize;
  let size = packing?.maxEncodedSize ?? packing?.encodedSize ?? decodedSize;
  for (const [i, { codec, maxDecodedSize }] of codecs.entries()) {
    const isInPlace = i === 0 && packing?.maxEncodedSize === undefined;
    const source = isInPlace ? 0 : isFixed(dataType) ? maxDecodedSize : size;
    const encodedSize = codec.maxEncodedSize(size);
    const following = isFixed(dataType) ? codecs[i + 1]?.maxDecodedSize : encodedSize;
    const target = i + 1 === codecs.length ? 0 : (following ?? encodedSize);
    pooledScratchSize = Math.max(pooledScratchSize, source + target);
    scratchSize = Math.max(scratchSize, source + target + (codec.scratchSize?.(size) ?? 0));
    size = encodedSize;
  }
  const computed = computedArrays(chain, spec);
  return {
    maxEncodedSize: size,
    scratchSize: scratchSize + computed,
    pooledScratchSize: pooledScratchSize + computed,
  };
}

/** Bytes of the arrays that array -> array codecs create for items of another size or for their computation. */
function computedArrays(chain: readonly PlacedCodec[], spec: ChunkSpec): number {
  let bytes = 0;
  let before = spec;
  for (const { codec } of chain) {
    if (codec.kind !== "array-to-array") break;
    const after = codec.encodedSpec(before);
    bytes += product(after.shape) * (codec.itemScratchSize ?? 0);
    if (isFixed(after.dataType) && !sameSize(after.dataType, before.dataType)) {
      bytes += product(after.shape) * after.dataType.size;
    }
    before = after;
  }
  return bytes;
}

function sameSize(a: DataType, b: DataType): boolean {
  return isFixed(a) && isFixed(b) && a.size === b.size;
}

/** @throws `codec-error` if `data` are not a whole chunk in the pipeline's layout; their buffer is then given back. */
function assertLayout(data: ChunkData, spec: ChunkSpec, strides: readonly number[], buffers: Buffers): void {
  const { shape } = spec;
  const isWhole = data.shape.length === shape.length && data.shape.every((n, d) => n === shape[d]);
  const isLaidOut =
    data.kind === "variable" || shape.every((n, d) => n === 1 || data.strides[d] === strides[d]);
  if (isWhole && isLaidOut) return;
  buffers.give(data.bytes);
  throw new ZarrflowError(
    "codec-error",
    "the data is not a complete chunk in the layout that the codecs require",
    {
      expected: `shape ${shape.join(" x ")}, strides ${strides.join(", ")}`,
      found: `shape ${data.shape.join(" x ")}${data.kind === "fixed" ? `, strides ${data.strides.join(", ")}` : ""}`,
    },
  );
}

function isOfKind<C extends Codec>(kind: C["kind"]) {
  return (placed: PlacedCodec): placed is PlacedCodec<C> => placed.codec.kind === kind;
}
