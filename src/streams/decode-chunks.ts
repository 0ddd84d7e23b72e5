import { type Buffers, plainBuffers } from "../util/buffers.ts";
import { isZarrflowError } from "../util/errors.ts";
import type { ChunkCoding, DecodedChunk, EncodedChunk } from "./chunk.ts";
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
  { buffers = plainBuffers }: CodingOptions = {},
): TransformStream<EncodedChunk, DecodedChunk> {
  return new TransformStream<EncodedChunk, DecodedChunk>({
    async transform({ bytes, ...ref }, controller) {
      try {
        const data = bytes && (await (await coding.pipeline()).decode(bytes, buffers));
        controller.enqueue({ ...ref, data });
      } catch (error) {
        if (isZarrflowError(error)) error.addContext({ path: coding.path, coords: ref.coords, key: ref.key });
        throw error;
      }
    },
  });
}
