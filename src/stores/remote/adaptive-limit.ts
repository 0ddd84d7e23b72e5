import pLimit from "p-limit";
import { type Overloads, ownOverloads } from "./throttle-signals.ts";

/**
 * As many calls to a server at once as it takes. All of them at first; when it wants to be asked less often, half as
 * many as were under way, here and wherever else its overloads are heard of; then one more for each round of calls that
 * goes well. The others wait for their turn.
 */
export class AdaptiveLimit {
  readonly #limit = pLimit(Number.POSITIVE_INFINITY);
  readonly #isOverload: (error: unknown) => boolean;
  /** Calls at once; its fraction grows until it is one more. */
  #allowed = Number.POSITIVE_INFINITY;
  readonly #overloads: Overloads;
  /** Overloads after which there were half as many calls. */
  #seen: number;

  /** @param isOverload whether a failed call says that there are too many of them. */
  constructor(isOverload: (error: unknown) => boolean, overloads: Overloads = ownOverloads()) {
    this.#isOverload = isOverload;
    this.#overloads = overloads;
    this.#seen = overloads.count;
  }

  /** Makes a call when its turn comes. */
  run<T>(call: () => Promise<T>): Promise<T> {
    return this.#limit(async () => {
      this.#hear();
      const before = this.#seen;
      try {
        const result = await call();
        if (this.#limit.activeCount >= this.#limit.concurrency)
          this.#allow(this.#allowed + 1 / this.#allowed);
        return result;
      } catch (error) {
        // Those that were under way together each report the same overload.
        if (this.#isOverload(error) && before === this.#overloads.count) this.#overloads.add();
        this.#hear();
        throw error;
      }
    });
  }

  /** Halves once for all overloads that came since. */
  #hear(): void {
    const { count } = this.#overloads;
    if (count === this.#seen) return;
    this.#seen = count;
    this.#allow(Math.min(this.#allowed, this.#limit.activeCount) / 2);
  }

  #allow(calls: number): void {
    this.#allowed = Math.max(1, calls);
    this.#limit.concurrency = Math.floor(this.#allowed);
  }
}
