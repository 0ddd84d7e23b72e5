import { isFilled } from "../codecs/filled-data.ts";
import { plainBuffers } from "../util/bytes.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import type { TransformStream } from "../util/web-streams.ts";
import { pooledSize } from "./buffer-pool.ts";
import {
  type ChunkCodec,
  type ChunkSizes,
  type DecodedChunk,
  type EncodedChunk,
  encodedChunk,
  pooledScratch,
  withChunkContext,
} from "./chunk.ts";
import { CODING_OPTIONS, type CodingOptions } from "./decode-chunks.ts";
import { type Stage, stageStream } from "./stage.ts";

export interface EncodeOptions extends CodingOptions {
  /** Also stores chunks that contain only the fill value; by default they are left out. */
  readonly writeEmptyChunks?: boolean | undefined;
}

const ENCODE_OPTIONS: OptionNames<EncodeOptions> = {
  ...CODING_OPTIONS,
  writeEmptyChunks: true,
};

/**
 * Encodes chunks through all codecs of an array at once. Takes ownership of each chunk's data.
 *
 * Missing chunks come out with `bytes: undefined`. So do chunks whose items all equal the fill value byte for byte,
 * unless `writeEmptyChunks` is set or the fill value is null.
 *
 * @throws `codec-error` with the store, the array's path, the chunk's coords and the codec.
 */
export function encodeChunks(
  coding: ChunkCodec,
  options: EncodeOptions = {},
): TransformStream<DecodedChunk, EncodedChunk> {
  assertKnown(options, ENCODE_OPTIONS);
  return stageStream(encodeStage(coding, options));
}

export function encodeStage(
  coding: ChunkCodec,
  { buffers = plainBuffers, writeEmptyChunks = false }: EncodeOptions = {},
): Stage<DecodedChunk, EncodedChunk> {
  const encode = async (chunk: DecodedChunk): Promise<EncodedChunk> => {
    const { data } = chunk;
    try {
      const pipeline = await coding.pipeline();
      const { fillValue } = pipeline.spec;
      if (data && !writeEmptyChunks && fillValue && isFilled(data, fillValue)) {
        buffers.give(data.bytes);
        return encodedChunk(chunk, undefined);
      }
      return encodedChunk(chunk, data && (await pipeline.encode(data, buffers)));
    } catch (error) {
      throw withChunkContext(error, coding, { coords: chunk.coords });
    }
  };
  return { push: async (chunk) => [await encode(chunk)] };
}

/** Bytes of pooled buffers that encoding takes in addition to the decoded chunk. */
export function encodeFootprint(sizes: ChunkSizes): number {
  return pooledSize(sizes.maxEncodedSize) + pooledScratch(sizes);
}
