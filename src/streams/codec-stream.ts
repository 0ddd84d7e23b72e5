import { codecStep, type Direction } from "../codecs/chain/codec-step.ts";
import type { ChunkData } from "../codecs/chunk-data.ts";
import type {
  ArrayToArrayCodec,
  ArrayToBytesCodec,
  BytesToBytesCodec,
  PlacedCodec,
} from "../codecs/codec.ts";
import { plainBuffers } from "../util/bytes.ts";
import { isZarrflowError } from "../util/errors.ts";
import { assertKnown } from "../util/options.ts";
import { TransformStream } from "../util/web-streams.ts";
import type { DecodedChunk, EncodedChunk } from "./chunk.ts";
import { CODING_OPTIONS, type CodingOptions } from "./decode-chunks.ts";

/** A chunk between two codecs: `bytes` on the stored side of the array -> bytes codec, `data` on the other side. */
export type CodedChunk = EncodedChunk | DecodedChunk;

/**
 * One codec of a chain, as a stream of chunks. The codecs of `loadCodecs` in reverse order decode as `decodeChunks`
 * does, which fuses them; in order they encode as `encodeChunks` does. Takes ownership of the contents of each chunk;
 * missing chunks pass unchanged.
 *
 * @throws `corrupt-chunk`, `codec-error`, with the chunk's coords and key, and the codec.
 * @example
 * ```ts
 * import { loadCodecs } from "zarrflow/codecs";
 * import { codecStream } from "zarrflow/streams";
 *
 * const spec = { shape: [4], dataType: { kind: "uint", size: 1 }, fillValue: null } as const;
 * const codecs = await loadCodecs(
 *   [
 *     { name: "bytes", configuration: {} },
 *     { name: "gzip", configuration: { level: 5 } },
 *   ],
 *   spec,
 * );
 * const data = { kind: "fixed", bytes: new Uint8Array(4), itemSize: 1, shape: [4], strides: [1] };
 * const chunk = { index: 0, coords: [0], region: { start: [0], shape: [4] }, data };
 * let chunks = new ReadableStream({
 *   start(controller) {
 *     controller.enqueue(chunk);
 *     controller.close();
 *   },
 * });
 * for (const codec of codecs) chunks = chunks.pipeThrough(codecStream(codec, "encode"));
 * for await (const { bytes } of chunks) console.log(bytes[0], bytes[1]); // 31 139
 * ```
 */
export function codecStream(
  placed: PlacedCodec<BytesToBytesCodec>,
  direction: Direction,
  options?: CodingOptions,
): TransformStream<EncodedChunk, EncodedChunk>;
export function codecStream(
  placed: PlacedCodec<ArrayToArrayCodec>,
  direction: Direction,
  options?: CodingOptions,
): TransformStream<DecodedChunk, DecodedChunk>;
export function codecStream(
  placed: PlacedCodec<ArrayToBytesCodec>,
  direction: "decode",
  options?: CodingOptions,
): TransformStream<EncodedChunk, DecodedChunk>;
export function codecStream(
  placed: PlacedCodec<ArrayToBytesCodec>,
  direction: "encode",
  options?: CodingOptions,
): TransformStream<DecodedChunk, EncodedChunk>;
export function codecStream(
  placed: PlacedCodec,
  direction: Direction,
  options?: CodingOptions,
): TransformStream<CodedChunk, CodedChunk>;
export function codecStream(
  placed: PlacedCodec,
  direction: Direction,
  options: CodingOptions = {},
): TransformStream<CodedChunk, CodedChunk> {
  assertKnown(options, CODING_OPTIONS);
  const { buffers = plainBuffers } = options;
  const step = codecStep(placed, direction, buffers);
  const { kind } = placed.codec;
  const givesBytes = kind === "bytes-to-bytes" || (kind === "array-to-bytes" && direction === "encode");
  return new TransformStream<CodedChunk, CodedChunk>({
    async transform(chunk, controller) {
      const { bytes, data, ...ref } = { bytes: undefined, data: undefined, ...chunk };
      const form = bytes ?? data;
      try {
        const result = form && (await step(form));
        if (givesBytes) controller.enqueue({ ...ref, bytes: result as Uint8Array | undefined });
        else controller.enqueue({ ...ref, data: result as ChunkData | undefined });
      } catch (error) {
        if (isZarrflowError(error)) error.addContext({ coords: ref.coords, key: ref.key });
        throw error;
      }
    },
  });
}
