import { isFilled } from "../codecs/is-filled.ts";
import { plainBuffers } from "../util/buffers.ts";
import { isZarrflowError } from "../util/errors.ts";
import { type ChunkCoding, type DecodedChunk, type EncodedChunk, encodedChunk } from "./chunk.ts";
import type { CodingOptions } from "./decode-chunks.ts";
import { TransformStream } from "./web.ts";

export interface EncodeOptions extends CodingOptions {
  /** Stores chunks that hold nothing but the fill value too; by default they are left out. */
  readonly writeEmpty?: boolean;
}

/**
 * Encodes chunks through all of an array's codecs at once. Takes ownership of each chunk's data. A chunk without
 * data, or (unless `writeEmpty`, or the fill value is null) one whose items all equal the fill value byte for
 * byte, comes out with `bytes: undefined`.
 *
 * @throws `codec-error` with the array's path, the chunk's coords and the codec.
 */
export function encodeChunks(
  coding: ChunkCoding,
  options: EncodeOptions = {},
): TransformStream<DecodedChunk, EncodedChunk> {
  const encode = chunkEncoder(coding, options);
  return new TransformStream<DecodedChunk, EncodedChunk>({
    async transform(chunk, controller) {
      controller.enqueue(await encode(chunk));
    },
  });
}

/** Encodes a chunk: what `encodeChunks` does with each. */
export type ChunkEncoder = (chunk: DecodedChunk) => Promise<EncodedChunk>;

export function chunkEncoder(
  coding: ChunkCoding,
  { buffers = plainBuffers, writeEmpty = false }: EncodeOptions = {},
): ChunkEncoder {
  return async (chunk) => {
    const { data } = chunk;
    try {
      const pipeline = await coding.pipeline();
      const { fillValue } = pipeline.spec;
      if (data && !writeEmpty && fillValue && isFilled(data, fillValue)) {
        buffers.give(data.bytes);
        return encodedChunk(chunk, undefined);
      }
      return encodedChunk(chunk, data && (await pipeline.encode(data, buffers)));
    } catch (error) {
      if (isZarrflowError(error)) error.addContext({ path: coding.path, coords: chunk.coords });
      throw error;
    }
  };
}
