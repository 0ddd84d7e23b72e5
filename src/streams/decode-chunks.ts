import type { ChunkData } from "../codecs/chunk-data.ts";
import type { ChunkSpec, CodecPipeline } from "../codecs/codec.ts";
import { fillData } from "../codecs/filled-data.ts";
import { type Buffers, plainBuffers } from "../util/bytes.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import { cStrides } from "../util/shape.ts";
import type { TransformStream } from "../util/web-streams.ts";
import { pooledSize } from "./buffer-pool.ts";
import {
  type ChunkCodec,
  type ChunkSizes,
  type DecodedChunk,
  decodedChunk,
  type EncodedChunk,
  pooledScratch,
  type Region,
  withChunkContext,
} from "./chunk.ts";
import { beginAssembly } from "./regrid.ts";
import { type Selection, wholeSelection } from "./selection.ts";
import { type Stage, stageStream } from "./stage.ts";

export interface CodingOptions {
  readonly buffers?: Buffers | undefined;
}

export const CODING_OPTIONS: OptionNames<CodingOptions> = {
  buffers: true,
};

export interface DecodeOptions extends CodingOptions {
  /**
   * Replaces missing chunks by items of the fill value, which are then written even if the target's fill value differs.
   */
  readonly fillMissing?: boolean | undefined;
}

const DECODE_OPTIONS: OptionNames<DecodeOptions> = {
  ...CODING_OPTIONS,
  fillMissing: true,
};

/**
 * Decodes chunks through all codecs of an array at once. Takes ownership of each chunk's bytes; missing chunks pass
 * unchanged unless `fillMissing` is set.
 *
 * @throws `corrupt-chunk`, `codec-error`, with the store, the array's path, the chunk's coords and key, and the codec.
 */
export function decodeChunks(
  coding: ChunkCodec,
  options: DecodeOptions = {},
): TransformStream<EncodedChunk, DecodedChunk> {
  assertKnown(options, DECODE_OPTIONS);
  return stageStream(decodeStage(coding, options));
}

export function decodeStage(
  coding: ChunkCodec,
  options: DecodeOptions = {},
): Stage<EncodedChunk, DecodedChunk> {
  const decode = chunkDecoder(coding, options);
  return { push: async (chunk) => [await decode(chunk)] };
}

/** Decodes one chunk, as `decodeChunks` does. */
export type ChunkDecoder = (chunk: EncodedChunk) => Promise<DecodedChunk>;

export function chunkDecoder(
  coding: ChunkCodec,
  { buffers = plainBuffers, fillMissing = false }: DecodeOptions = {},
): ChunkDecoder {
  return async (chunk) => {
    const { bytes, part, coords, key } = chunk;
    try {
      if (part && bytes) return decodedChunk(chunk, await part.decode(bytes, buffers));
      // Missing chunks need no codecs, so they pass even if a codec is not supported.
      if (!bytes && !fillMissing && !coding.computesMissing) return decodedChunk(chunk, undefined);
      const pipeline = await coding.pipeline();
      if (bytes) return decodedChunk(chunk, await pipeline.decode(bytes, buffers, chunk));
      const missing = pipeline.decodeMissing?.(buffers, chunk);
      if (missing) return decodedChunk(chunk, await missing);
      return decodedChunk(chunk, fillMissing ? filled(pipeline, chunk, buffers) : undefined);
    } catch (error) {
      throw withChunkContext(error, coding, { coords, key });
    }
  };
}

/** A missing chunk, or the requested part of one, in the layout of a decoded chunk. */
function filled(
  { spec, strides }: CodecPipeline,
  { part, region }: EncodedChunk,
  buffers: Buffers,
): ChunkData {
  if (part) return fillData({ ...spec, shape: region.shape }, buffers);
  const data = fillData(spec, buffers);
  return data.kind === "fixed" ? { ...data, strides } : data;
}

/**
 * Copies the items of a chunk that belong to the array, in C order, to a buffer that the caller owns. Items stored
 * beyond the edge of the array are left out; a missing chunk becomes items of the fill value.
 *
 * Gives back the chunk's own buffer and calls its `release`.
 *
 * @param spec the spec of the array's chunks (`pipeline().spec`)
 * @example
 * ```ts
 * import { openArray } from "zarrflow";
 * import { decodeChunks, denseData, readChunks } from "zarrflow/streams";
 *
 * const t2m = await openArray("era5.zarr/t2m");
 * const { spec } = await t2m.pipeline();
 * const first = { index: 0, coords: [0, 0, 0], region: { start: [0, 0, 0], shape: [24, 33, 49] } };
 * for await (const chunk of readChunks(t2m, [first]).pipeThrough(decodeChunks(t2m))) {
 *   const { bytes } = denseData(chunk, spec);
 *   console.log(new Float32Array(bytes.buffer).length); // 38808
 * }
 * ```
 */
export function denseData(piece: DecodedChunk, spec: ChunkSpec, options: DenseDataOptions = {}): ChunkData {
  assertKnown(options, DENSE_OPTIONS);
  const { region = piece.region, buffers = plainBuffers } = options;
  const selection = options.selection ?? wholeSelection(region.shape);
  const { data } = piece;
  try {
    if (data && isDense(data, region, piece.region)) return data;
    const chunk = { ...spec, shape: region.shape };
    const assembly = beginAssembly({ chunk }, region, { selection, buffers });
    assembly.add(piece, region);
    if (data) buffers.give(data.bytes);
    return assembly.finish() ?? fillData(chunk, buffers);
  } finally {
    piece.release?.();
  }
}

export interface DenseDataOptions {
  /** The items to take, in coordinates of `selection`; by default all items of the chunk that belong to the array. */
  readonly region?: Region | undefined;
  /** The selection that `region` is part of; the whole array by default. */
  readonly selection?: Selection | undefined;
  readonly buffers?: Buffers | undefined;
}

const DENSE_OPTIONS: OptionNames<DenseDataOptions> = {
  region: true,
  selection: true,
  buffers: true,
};

/** True if the data are exactly the items of the region, in C order, and fill their buffer. */
function isDense(data: ChunkData, { shape }: Region, { shape: held }: Region): boolean {
  const { bytes } = data;
  if (!isSameList(shape, held) || !isSameList(shape, data.shape)) return false;
  if (bytes.byteLength !== bytes.buffer.byteLength) return false;
  return data.kind === "variable" || isSameList(data.strides, cStrides(shape));
}

function isSameList(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((n, i) => n === b[i]);
}

/** Bytes of pooled buffers that decoding a chunk takes, including its encoded and its decoded form. */
export function decodeFootprint(sizes: ChunkSizes): number {
  return pooledSize(sizes.maxEncodedSize) + pooledScratch(sizes) + pooledSize(sizes.decodedSize);
}
