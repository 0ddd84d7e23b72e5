import { ZarrflowError } from "../../util/errors.ts";
import { assertKnown, type OptionNames } from "../../util/options.ts";
import { pause } from "../../util/pause.ts";
import type { RequestHook } from "../remote/private-access.ts";
import type { Store } from "../store.ts";
import { type StoreCall, type Wrapped, wrapStore } from "./wrap-store.ts";

export interface RateLimits {
  /** Maximum number of requests that start in a second. A listing or a streamed value counts as one. */
  readonly requestsPerSecond?: number | undefined;
  /** Maximum number of bytes of values that are read and written in a second. */
  readonly bytesPerSecond?: number | undefined;
}

const RATE_LIMITS: OptionNames<RateLimits> = {
  requestsPerSecond: true,
  bytesPerSecond: true,
};

/** Operations inside a request that has started. */
const STEPS: readonly StoreCall["operation"][] = ["next", "write", "commit"];

/** Assumed size in bytes of a value before one was read. */
const FIRST_GUESS = 2 ** 16;

/**
 * Limits how many requests per second are made to a store, and how many bytes are moved; calls wait for their turn in
 * order. The limits apply on average: a large value is moved without a pause, and the calls after it wait longer. The
 * size of a value to be read is estimated from the one before, and corrected afterwards. A call that is aborted while
 * it waits is not made.
 *
 * @throws `invalid-option` for a limit that is not above 0.
 * @example
 * ```ts
 * import { open } from "zarrflow";
 * import { HttpStore } from "zarrflow/stores/http";
 * import { withRateLimit } from "zarrflow/stores/with/rate-limit";
 *
 * const polite = withRateLimit(new HttpStore("https://example.org/era5.zarr"), { requestsPerSecond: 5 });
 * const openLater = () => open(polite);
 * ```
 */
export function withRateLimit<S extends Store>(store: S, limits: RateLimits): Wrapped<S> {
  assertKnown(limits, RATE_LIMITS);
  const { requestsPerSecond, bytesPerSecond } = limits;
  return withPaces(store, { requests: paceOf(requestsPerSecond), bytes: paceOf(bytesPerSecond) });
}

/** Rates that several stores may share. */
export interface Paces {
  readonly requests?: Pace | undefined;
  readonly bytes?: Pace | undefined;
}

/** Like `withRateLimit`, with rates that other stores may share. */
export function withPaces<S extends Store>(store: S, { requests, bytes }: Paces): Wrapped<S> {
  let length = FIRST_GUESS;
  return wrapStore(store, async ({ operation, written }, run, { signal }) => {
    if (!STEPS.includes(operation)) await requests?.turn(1, signal);
    const guess = operation === "get" ? length : written;
    await bytes?.turn(guess, signal);
    const answer = await run();
    if (operation === "get") {
      const read = answer instanceof Uint8Array ? answer.length : 0;
      bytes?.spend(read - guess);
      if (read > 0) length = read;
    }
    return answer;
  });
}

/** Returns a `beforeRequest` hook that limits the requests that start in a second. */
export function requestTurns(requestsPerSecond: number): RequestHook {
  const pace = paceOf(requestsPerSecond);
  return async (signal) => pace?.turn(1, signal);
}

/** @throws `invalid-option` for a limit that is not above 0 */
export function paceOf(perSecond: number | undefined): Pace | undefined {
  if (perSecond === undefined) return undefined;
  if (perSecond > 0 && Number.isFinite(perSecond)) return new Pace(perSecond);
  throw new ZarrflowError("invalid-option", "a rate must be positive", { value: perSecond });
}

/** Hands out an amount per second, in the order of the requests. */
export class Pace {
  readonly #perMillisecond: number;
  /** Time at which everything that was handed out is used up. */
  #paid = 0;

  constructor(perSecond: number) {
    this.#perMillisecond = perSecond / 1000;
  }

  /** Waits until earlier amounts are used up, and takes `amount`. @throws `aborted`. */
  async turn(amount: number, signal: AbortSignal | undefined): Promise<void> {
    if (amount === 0) return;
    const now = performance.now();
    this.#paid = Math.max(now, this.#paid);
    const wait = this.#paid - now;
    this.spend(amount);
    if (wait > 0) await pause(wait, signal);
  }

  /** Takes `amount`, or returns it if it is negative, without waiting. */
  spend(amount: number): void {
    this.#paid += amount / this.#perMillisecond;
  }
}
