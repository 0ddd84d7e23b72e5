import { throwIfAborted } from "../util/abort.ts";
import { joinBytes } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { StoreWriter } from "./store.ts";

/**
 * Makes a writer whose steps run one after the other, even if they are called at once. A second `abort`, or one
 * after `commit`, has no effect; any other call after the end fails. Once `signal` is aborted, `write` and
 * `commit` fail with its reason.
 */
export function serialized(steps: StoreWriter, key: string, signal?: AbortSignal): StoreWriter {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let end: { readonly error: unknown } | undefined;
  const ended = () => {
    waiting--;
  };
  const next = (step: () => Promise<void>): Promise<void> => {
    waiting++;
    const turn = last.then(step);
    last = turn.then(ended, ended);
    return turn;
  };
  const checkOpen = () => {
    if (end !== undefined) throw end.error;
    throwIfAborted(signal);
  };
  return {
    write: (bytes) =>
      next(async () => {
        checkOpen();
        await steps.write(bytes);
      }),
    ...(steps.writeSync !== undefined && {
      writeSync: (bytes) =>
        waiting === 0 && end === undefined && !signal?.aborted && steps.writeSync?.(bytes) === true,
    }),
    commit: () =>
      next(async () => {
        checkOpen();
        await steps.commit();
        end = {
          error: new ZarrflowError("unsupported-operation", "the value is already committed", { key }),
        };
      }),
    abort: (reason) =>
      next(async () => {
        if (end !== undefined) return;
        end = { error: reason ?? new ZarrflowError("aborted", "writing the value was aborted", { key }) };
        await steps.abort(reason);
      }),
  };
}

/**
 * Makes a writer that collects copies of all pieces and passes them, joined, to `set`: for stores that take only
 * whole values.
 */
export function bufferedWriter(
  key: string,
  set: (bytes: Uint8Array) => Promise<void>,
  signal: AbortSignal | undefined,
): StoreWriter {
  const pieces: Uint8Array[] = [];
  return serialized(
    {
      write: async (bytes) => {
        pieces.push(new Uint8Array(bytes));
      },
      commit: () => set(joinBytes(pieces)),
      abort: async () => {
        pieces.length = 0;
      },
    },
    key,
    signal,
  );
}

/** Takes the bytes of one long value in order: a file, or an object that is uploaded in parts. */
export interface ByteSink {
  /** Appends bytes. Resolves when the sink can take more; the caller may then reuse `bytes`. */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Appends all pieces before it returns. Returns false, with nothing appended, if that is not possible for any
   * reason. Absent in sinks that always have to wait.
   */
  writeSync?(...pieces: readonly Uint8Array[]): boolean;
  /** Overwrites earlier bytes at `offset`; absent if the sink no longer has them. */
  patch?(offset: number, bytes: Uint8Array): Promise<void>;
  /** Resolves when everything is written. */
  close(): Promise<void>;
  /** Stops and discards what was written. Has no effect after `close`. */
  abort(reason: unknown): Promise<void>;
}
