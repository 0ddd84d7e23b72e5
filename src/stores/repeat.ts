import { plainBuffers } from "../util/buffers.ts";
import { isZarrflowError, type ZarrflowError } from "../util/errors.ts";
import type { GetOptions } from "./store.ts";

export interface RetryOptions {
  /**
   * How often a call is made at most.
   *
   * @default 5
   */
  readonly attempts?: number;
  /**
   * Milliseconds that the first wait lasts at most; each further one twice as many.
   *
   * @default 200
   */
  readonly firstWait?: number;
  /**
   * Milliseconds that any wait lasts at most. A server that wants to be left alone for longer is not asked again.
   *
   * @default 20,000
   */
  readonly longestWait?: number;
  /** Told before each wait. */
  readonly onRetry?: (retry: Retry) => void;
}

/** A call that failed and will be made again. */
export interface Retry {
  readonly operation: string;
  readonly key: string;
  readonly error: ZarrflowError;
  /** How often it was made. */
  readonly attempt: number;
  /** Milliseconds until it is made again. */
  readonly wait: number;
}

/** What is done, for those who are told of it. */
type RepeatedCall = Pick<Retry, "operation" | "key">;

/** Makes a call until it succeeds, fails for good, or has been made often enough. */
export type Repeat = <T>(
  call: RepeatedCall,
  run: () => Promise<T>,
  signal: AbortSignal | undefined,
) => Promise<T>;

/**
 * Makes calls again that failed for now (`transient`, `short-read`): after a random part of a time that doubles, and
 * never before the server's `Retry-After`.
 */
export function repeater({
  attempts = 5,
  firstWait = 200,
  longestWait = 20_000,
  onRetry,
}: RetryOptions): Repeat {
  const waitAfter = (error: ZarrflowError, attempt: number): number | undefined => {
    const { retryAfter = 0 } = error.details;
    const least = retryAfter * 1000;
    if (attempt >= attempts || least > longestWait) return undefined;
    return Math.max(least, Math.random() * Math.min(longestWait, firstWait * 2 ** (attempt - 1)));
  };
  return async ({ operation, key }, run, signal) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run();
      } catch (error) {
        if (!isForNow(error)) throw error;
        const wait = waitAfter(error, attempt);
        if (wait === undefined) throw error;
        onRetry?.({ operation, key, error, attempt, wait });
        await pause(wait, signal);
      }
    }
  };
}

/** Options whose `allocate` gives the buffer of an attempt that failed to the next one. */
export function withOneBuffer(options: GetOptions = {}): GetOptions {
  const { allocate = plainBuffers.take } = options;
  let buffer: Uint8Array | undefined;
  return {
    ...options,
    allocate: (byteLength) => {
      if (buffer?.length !== byteLength) buffer = allocate(byteLength);
      return buffer;
    },
  };
}

function isForNow(error: unknown): error is ZarrflowError {
  return isZarrflowError(error, "transient") || isZarrflowError(error, "short-read");
}

/** @throws the signal's reason. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
