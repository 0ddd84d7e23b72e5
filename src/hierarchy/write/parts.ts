import type { DataTypeName } from "../../meta/data-type-name.ts";
import type { DecodedChunk, Region } from "../../streams/chunk.ts";
import { mapConcurrent } from "../../streams/map-concurrent.ts";
import { WritableStream } from "../../util/web-streams.ts";
import type { Values } from "./values.ts";

/** A box of an array with its values, as `slice(...).chunks()` returns and `ArrayWriter.writable` takes. */
export interface ArrayPart<Name extends DataTypeName = DataTypeName> {
  readonly region: Region;
  readonly data: Values<Name>;
  /** Distance in `data`, in items, between neighbours along each dimension; C order without gaps by default. */
  readonly stride?: readonly number[] | undefined;
}

interface PartWriter {
  /** @param onTaken called when the part's values are no longer needed */
  writePart(part: ArrayPart | DecodedChunk, onTaken: () => void): Promise<void>;
  close(): Promise<void>;
  abort(reason: unknown): Promise<void>;
}

interface Entry {
  readonly part: ArrayPart | DecodedChunk;
  readonly onTaken: () => void;
}

/**
 * Creates a stream that takes parts in order and lets up to `concurrency` of them be stored at a time. Closing or
 * aborting it closes or aborts the writer.
 */
export function partsInto(writer: PartWriter, concurrency: number): WritableStream<ArrayPart | DecodedChunk> {
  const write = async ({ part, onTaken }: Entry) => {
    try {
      await writer.writePart(part, onTaken);
    } finally {
      onTaken();
    }
  };
  const { readable, writable } = mapConcurrent(write, { concurrency });
  // The writing side reports failures.
  readable.pipeTo(new WritableStream()).catch(() => {});
  const parts = writable.getWriter();
  const failure = parts.closed.catch((error: unknown) => error);
  const orGiveUp = async (step: Promise<void>): Promise<void> => {
    try {
      await step;
    } catch {
      // Closing a failed stream rejects with another error.
      const error = await failure;
      await writer.abort(error);
      throw error;
    }
  };
  /** Rejects the wait for the current part when the stream fails. */
  let stopWaiting = (_error: unknown) => {};
  failure.then((error) => stopWaiting(error));
  return new WritableStream<ArrayPart | DecodedChunk>({
    async write(part) {
      const taken = new Promise<void>((resolve, reject) => {
        stopWaiting = reject;
        parts.write({ part, onTaken: resolve }).catch(reject);
      });
      await orGiveUp(taken);
    },
    async close() {
      await orGiveUp(parts.close());
      await writer.close();
    },
    async abort(reason) {
      await Promise.all([parts.abort(reason), writer.abort(reason)]);
    },
  });
}

/**
 * True if a part is a decoded chunk from the stages of `zarrflow/streams`: its data have the layout of its codecs, or
 * it has none.
 */
export function isDecoded(part: ArrayPart | DecodedChunk): part is DecodedChunk {
  return part.data === undefined || "kind" in part.data;
}
