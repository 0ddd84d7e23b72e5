import type { DataTypeName } from "../../meta/data-type-name.ts";
import type { DecodedChunk, Region } from "../../streams/chunk.ts";
import { mapConcurrent } from "../../streams/map-concurrent.ts";
import { WritableStream } from "../../streams/web.ts";
import type { Values } from "./values.ts";

/** A box of an array and its values: what `slice(...).chunks()` gives, and `ArrayWriter.writable` takes. */
export interface ArrayPart<Name extends DataTypeName = DataTypeName> {
  readonly region: Region;
  readonly data: Values<Name>;
  /** Items of `data` to step for one step along each dimension; C order without gaps by default. */
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
 * A stream that takes one part after the other, waits for up to `concurrency` of them to be stored, and closes and aborts
 * the writer as it is itself.
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
  // Whoever writes learns of failures from the writable side.
  readable.pipeTo(new WritableStream()).catch(() => {});
  const parts = writable.getWriter();
  const failure = parts.closed.catch((error: unknown) => error);
  const orGiveUp = async (step: Promise<void>): Promise<void> => {
    try {
      await step;
    } catch {
      // To close a stream that has failed fails with an error of its own.
      const error = await failure;
      await writer.abort(error);
      throw error;
    }
  };
  /** Ends the wait for the part that is being taken, when the stream fails. */
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

/** Whether a part is a chunk of the stages of `zarrflow/streams`: it has data in its codecs' form, or none. */
export function isDecoded(part: ArrayPart | DecodedChunk): part is DecodedChunk {
  return part.data === undefined || "kind" in part.data;
}
