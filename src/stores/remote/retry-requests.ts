import { throwIfAborted } from "../../util/abort.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { isZarrflowError, type ZarrflowError } from "../../util/errors.ts";
import { checkedOptions, type OptionNames } from "../../util/options.ts";
import { pause } from "../../util/pause.ts";
import { parseDuration } from "../../util/units.ts";
import { hasStatus } from "../http/http-response.ts";
import type { AccessRetry, GetOptions } from "../store.ts";
import { AdaptiveLimit, limitOf } from "./adaptive-limit.ts";

/** A call that failed and will be retried. */
export interface Retry {
  /** Description of the store. */
  readonly store: string;
  readonly operation: string;
  readonly key: string;
  readonly error: ZarrflowError;
  /** Number of attempts so far. */
  readonly attempt: number;
  /** Milliseconds until the next attempt. */
  readonly wait: number;
}

const watchers = new Set<(retry: Retry) => void>();

/** Reports every pause before a retry, in all stores of this thread. Returns a function that ends this. */
export function onRetry(watcher: (retry: Retry) => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Reports a pause, in this or another thread, to the watchers of this thread. */
export function emitRetry(retry: Retry): void {
  for (const watcher of watchers) watcher(retry);
}

/** Options for retrying calls that failed transiently. */
export interface RetryOptions extends Pick<AccessRetry, "attempts"> {
  /**
   * The longest first pause, in seconds or as `500ms`. The maximum doubles for each further one.
   *
   * @default 0.2
   */
  readonly firstWait?: number | string | undefined;
  /**
   * The longest pause, in seconds or as `1min`. If a server asks for a longer one, the call is not retried.
   *
   * @default 20
   */
  readonly longestWait?: number | string | undefined;
  /** Called before each pause. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

export const RETRY_OPTIONS: OptionNames<RetryOptions> = {
  attempts: true,
  firstWait: true,
  longestWait: true,
  onRetry: true,
};

/** Options for retrying requests that failed transiently, and for the time that each may take. */
export interface RequestRetry extends RetryOptions, AccessRetry {}

const REQUEST_RETRY: OptionNames<RequestRetry> = { ...RETRY_OPTIONS, timeout: true };

/** A call, as it is reported, and the bytes that it sends. */
type RepeatedCall = Pick<Retry, "operation" | "key"> & { readonly sent?: number | undefined };

/** Makes a call until it succeeds, fails permanently, or has used all attempts. */
export type Retrier = <T>(
  call: RepeatedCall,
  run: () => Promise<T>,
  signal: AbortSignal | undefined,
) => Promise<T>;

/** Number of attempts in all. */
const MAX_ATTEMPTS = 9;
/** Milliseconds for which calls are retried to a server that may not exist at all. */
const UNKNOWN_MS = 3000;
/**
 * As `UNKNOWN_MS`, for a server that has only failed, or that first succeeded a short time ago, so that little work is
 * lost.
 */
const NEW_MS = 15_000;
const NEW_FOR_MS = 60_000;

/**
 * Retries calls to a store that failed transiently (`transient`, `short-read`). Pauses are random, with a maximum
 * that doubles, and never shorter than the server's `Retry-After`. As many calls run at once as `AdaptiveLimit`
 * finds useful; the time that a call waits for its turn does not count.
 *
 * @param server name of the server whose requests are limited together; by default this retrier has its own limit
 */
export function retrier(
  store: string,
  { attempts, firstWait = 0.2, longestWait = 20, onRetry }: RetryOptions = {},
  server?: string,
): Retrier {
  const [first, longest] = [parseDuration(firstWait), parseDuration(longestWait)];
  const limit = server === undefined ? new AdaptiveLimit(isOverload) : limitOf(server, isOverload);
  /** @param passed milliseconds since the first failure */
  const waitAfter = (error: ZarrflowError, attempt: number, passed: number): number | undefined => {
    if (attempt >= (attempts ?? MAX_ATTEMPTS)) return undefined;
    const least = retryAfterOf(error);
    if (least > longest) return undefined;
    const wait = Math.random() * Math.min(longest, first * 2 ** (attempt - 1));
    if (least > 0 || attempts !== undefined) return Math.max(least, wait);
    const left = retryWindow(limit) - passed;
    return left > 0 ? Math.min(left, wait) : undefined;
  };
  return async ({ operation, key, sent }, run, signal) => {
    let begun = 0;
    const once = () => {
      throwIfAborted(signal);
      begun = performance.now();
      return run();
    };
    let firstFailed: number | undefined;
    for (let attempt = 1, spent = 0; ; attempt++) {
      try {
        return await limit.run(once, { sent, signal });
      } catch (error) {
        if (hasStatus(error) || isOverload(error)) limit.hasAnswered = true;
        if (!isForNow(error)) throw error;
        spent += performance.now() - begun;
        firstFailed ??= spent;
        const wait = waitAfter(error, attempt, spent - firstFailed);
        if (wait === undefined) throw givenUp(error, attempt, spent);
        const retry = { store, operation, key, error, attempt, wait };
        onRetry?.(retry);
        emitRetry(retry);
        await pause(wait, signal);
        spent += wait;
      }
    }
  };
}

/**
 * Returns a retrier for requests to a server, and the milliseconds for which it may be silent. @throws
 * `invalid-option`
 */
export function requestRetrier(
  store: string,
  server: string,
  given: RequestRetry = {},
): { readonly retry: Retrier; readonly silence: number } {
  const { timeout = 30, ...options } = checkedOptions<RequestRetry>(given, REQUEST_RETRY);
  return { retry: retrier(store, options, server), silence: parseDuration(timeout) };
}

/** Returns the milliseconds for which calls to a server are retried. */
function retryWindow({ hasAnswered, answeredSince }: AdaptiveLimit): number {
  if (answeredSince === undefined) return hasAnswered ? NEW_MS : UNKNOWN_MS;
  return performance.now() - answeredSince < NEW_FOR_MS ? NEW_MS : Number.POSITIVE_INFINITY;
}

/** Returns the milliseconds after which the server asks to be retried. */
function retryAfterOf(error: ZarrflowError): number {
  return isZarrflowError(error, "transient") ? (error.details.retryAfter ?? 0) * 1000 : 0;
}

function givenUp(error: ZarrflowError, attempts: number, spent: number): ZarrflowError {
  const after = retryAfterOf(error) / 1000;
  const hint =
    after > 0
      ? `The server asks clients to wait ${after} s: try again then.`
      : "Try again later, or allow more attempts (`retry: { attempts: 20 }` or --attempts 20).";
  return error.addContext({
    ...(attempts > 1 && { attempts, seconds: Math.round(spent / 100) / 10 }),
    hint,
  });
}

/** Returns options whose `allocate` reuses the buffer of a failed attempt. */
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
