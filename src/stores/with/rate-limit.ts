import { assertKnown, type OptionNames } from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { pause } from "../../util/pause.ts";
import type { RequestHook } from "../remote/private-access.ts";
import type { Store } from "../store.ts";
import { type StoreCall, type Wrapped, wrapStore } from "./wrap-store.ts";

export interface RateLimits {
  /** Requests that begin in a second, at most. A listing, or a value written piece by piece, is one. */
  readonly requestsPerSecond?: number | undefined;
  /** Bytes of values read and written in a second, at most. */
  readonly bytesPerSecond?: number | undefined;
}

const RATE_LIMITS: OptionNames<RateLimits> = {
  requestsPerSecond: true,
  bytesPerSecond: true,
};

/** What is asked within a request that has begun. */
const STEPS: readonly StoreCall["operation"][] = ["next", "write", "commit"];

/** How long a value is thought to be before one was read, in bytes. */
const FIRST_GUESS = 2 ** 16;

/**
 * A store that is asked no more often than `requestsPerSecond`, and for no more than `bytesPerSecond`: calls wait for
 * their turn, first come, first served. Both hold on average: a value is moved at once, and those after it wait the
 * longer. How long a value is that will be read is guessed from the one before, and made good afterwards. A call
 * whose signal is aborted while it waits is not made.
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

/** Paces of stores that keep to one limit together. */
export interface Paces {
  readonly requests?: Pace | undefined;
  readonly bytes?: Pace | undefined;
}

/** The same with paces that other stores keep to as well. */
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

/** What lets no more requests begin in a second: for the `beforeRequest` of stores that ask servers. */
export function requestTurns(requestsPerSecond: number): RequestHook {
  const pace = paceOf(requestsPerSecond);
  return async (signal) => pace?.turn(1, signal);
}

/** @throws `invalid-option` for a limit that is not above 0 */
export function paceOf(perSecond: number | undefined): Pace | undefined {
  if (perSecond === undefined) return undefined;
  if (perSecond > 0 && Number.isFinite(perSecond)) return new Pace(perSecond);
  throw new ZarrflowError("invalid-option", "a rate must be above 0", { value: perSecond });
}

/** Deals out so much a second, in the order in which it is asked for. */
export class Pace {
  readonly #perMillisecond: number;
  /** When all that was dealt out is paid for. */
  #paid = 0;

  constructor(perSecond: number) {
    this.#perMillisecond = perSecond / 1000;
  }

  /** Waits until all before is paid for, and takes `amount`. @throws `aborted`. */
  async turn(amount: number, signal: AbortSignal | undefined): Promise<void> {
    if (amount === 0) return;
    const now = performance.now();
    this.#paid = Math.max(now, this.#paid);
    const wait = this.#paid - now;
    this.spend(amount);
    if (wait > 0) await pause(wait, signal);
  }

  /** Takes `amount`, or gives it back where it is below 0, without waiting. */
  spend(amount: number): void {
    this.#paid += amount / this.#perMillisecond;
  }
}
