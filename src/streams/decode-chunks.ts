import { type Buffers, plainBuffers } from "../util/buffers.ts";
import { isZarrflowError } from "../util/errors.ts";
import { type ChunkCoding, type DecodedChunk, decodedChunk, type EncodedChunk } from "./chunk.ts";
import { TransformStream } from "./web.ts";

export interface CodingOptions {
  readonly buffers?: Buffers;
}

/**
 * Decodes chunks through all of an array's codecs at once. Takes ownership of each chunk's bytes; missing chunks
 * pass as they are.
 *
 * @throws `corrupt-chunk`, `codec-error`, with the array's path, the chunk's coords and key, and the codec.
 */
export function decodeChunks(
  coding: ChunkCoding,
  options: CodingOptions = {},
): TransformStream<EncodedChunk, DecodedChunk> {
  const decode = chunkDecoder(coding, options);
  return new TransformStream<EncodedChunk, DecodedChunk>({
    async transform(chunk, controller) {
      controller.enqueue(await decode(chunk));
    },
  });
}

/** Decodes a chunk: what `decodeChunks` does with each. */
export type ChunkDecoder = (chunk: EncodedChunk) => Promise<DecodedChunk>;

export function chunkDecoder(
  coding: ChunkCoding,
  { buffers = plainBuffers }: CodingOptions = {},
): ChunkDecoder {
  return async (chunk) => {
    const { bytes, part, coords, key } = chunk;
    try {
      return decodedChunk(chunk, bytes && (await (part ?? (await coding.pipeline())).decode(bytes, buffers)));
    } catch (error) {
      if (isZarrflowError(error)) error.addContext({ path: coding.path, coords, key });
      throw error;
    }
  };
}
