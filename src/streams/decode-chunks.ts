import type { ChunkData } from "../codecs/chunk-data.ts";
import type { CodecPipeline } from "../codecs/codec.ts";
import { fillData } from "../codecs/filled-data.ts";
import { type Buffers, plainBuffers } from "../util/bytes.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import type { TransformStream } from "../util/web-streams.ts";
import { pooledSize } from "./buffer-pool.ts";
import {
  type ChunkCodec,
  type ChunkSizes,
  type DecodedChunk,
  decodedChunk,
  type EncodedChunk,
  pooledScratch,
  withChunkContext,
} from "./chunk.ts";
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

/** Bytes of pooled buffers that decoding a chunk takes, including its encoded and its decoded form. */
export function decodeFootprint(sizes: ChunkSizes): number {
  return pooledSize(sizes.maxEncodedSize) + pooledScratch(sizes) + pooledSize(sizes.decodedSize);
}
