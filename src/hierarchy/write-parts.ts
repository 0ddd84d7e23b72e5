import { mapConcurrent } from "../streams/map-concurrent.ts";
import { WritableStream } from "../streams/web.ts";
import type { ArrayPart, ArrayWriter } from "./write-array.ts";

/** A stream that writes up to `concurrency` parts at a time, and closes and aborts the writer as it is itself. */
export function partsInto(writer: ArrayWriter, concurrency: number): WritableStream<ArrayPart> {
  const { readable, writable } = mapConcurrent((part: ArrayPart) => writer.writePart(part), { concurrency });
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
  return new WritableStream<ArrayPart>({
    write: (part) => orGiveUp(parts.write(part)),
    async close() {
      await orGiveUp(parts.close());
      await writer.close();
    },
    async abort(reason) {
      await Promise.all([parts.abort(reason), writer.abort(reason)]);
    },
  });
}
