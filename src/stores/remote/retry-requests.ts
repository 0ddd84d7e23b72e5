import { throwIfAborted } from "../../util/abort.ts";
import { plainBuffers } from "../../util/buffers.ts";
import type { OptionNames } from "../../util/check-options.ts";
import { isZarrflowError, type ZarrflowError } from "../../util/errors.ts";
import { pause } from "../../util/pause.ts";
import type { GetOptions } from "../store.ts";
import { AdaptiveLimit, limitOf } from "./adaptive-limit.ts";
import { emitRetry, type Retry } from "./retry-events.ts";

export interface RetryOptions {
  /**
   * How often a call is made at most.
   *
   * @default 9, which outlives an outage of 10 to 30 s; 5, within 3 s, of a store that has not answered any call yet
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
  /** Called before each wait. */
  readonly onRetry?: (retry: Retry) => void;
}

export const RETRY_OPTIONS: OptionNames<RetryOptions> = {
  attempts: true,
  firstWait: true,
  longestWait: true,
  onRetry: true,
};

/** What is done, for reports, and how many bytes are sent. */
type RepeatedCall = Pick<Retry, "operation" | "key"> & { readonly sent?: number | undefined };

/** Makes a call until it succeeds, fails for good, or has been made often enough. */
export type Retrier = <T>(
  call: RepeatedCall,
  run: () => Promise<T>,
  signal: AbortSignal | undefined,
) => Promise<T>;

/** How often a call is made of a store that has answered before, and of one that may not be there at all. */
const MAX_ATTEMPTS = 9;
const FIRST_ATTEMPTS = 5;

/**
 * Makes calls to a store again that failed for now (`transient`, `short-read`): after a random part of a time that
 * doubles, and never before the server's `Retry-After`. As many calls are made at once as `AdaptiveLimit` finds to be of
 * use.
 *
 * @param server whose requests are limited together, by any name; by default those of this retrier are, by themselves
 */
export function retrier(
  store: string,
  { attempts, firstWait = 200, longestWait = 20_000, onRetry }: RetryOptions = {},
  server?: string,
): Retrier {
  let hasAnswered = false;
  const limit = server === undefined ? new AdaptiveLimit(isOverload) : limitOf(server, isOverload);
  const waitAfter = (error: ZarrflowError, attempt: number): number | undefined => {
    const seconds = isZarrflowError(error, "transient") ? error.details.retryAfter : undefined;
    const least = (seconds ?? 0) * 1000;
    const most = attempts ?? (hasAnswered ? MAX_ATTEMPTS : FIRST_ATTEMPTS);
    if (attempt >= most || least > longestWait) return undefined;
    return Math.max(least, Math.random() * Math.min(longestWait, firstWait * 2 ** (attempt - 1)));
  };
  return async ({ operation, key, sent }, run, signal) => {
    const once = () => {
      throwIfAborted(signal);
      return run();
    };
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await limit.run(once, { sent, signal });
        hasAnswered = true;
        return answer;
      } catch (error) {
        if (!isForNow(error)) throw error;
        const wait = waitAfter(error, attempt);
        if (wait === undefined) throw error;
        const retry = { store, operation, key, error, attempt, wait };
        onRetry?.(retry);
        emitRetry(retry);
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

function isOverload(error: unknown): boolean {
  return isZarrflowError(error, "transient") && error.details.overload === true;
}

function isForNow(error: unknown): error is ZarrflowError {
  return isZarrflowError(error, "transient") || isZarrflowError(error, "short-read");
}
