/** Seconds that the rate is taken over. */
const SPAN = 5;

/** How fast bytes go, of late, and how long the rest will take. */
export class Meter {
  readonly #started: number;
  #samples: { readonly at: number; readonly bytes: number }[];

  /** @param now seconds on a clock that only goes forward */
  constructor(now: number) {
    this.#started = now;
    this.#samples = [{ at: now, bytes: 0 }];
  }

  /** Notes how many bytes went in all. */
  note(now: number, bytes: number): void {
    this.#samples.push({ at: now, bytes });
    const first = this.#samples.findIndex(({ at }) => at >= now - SPAN);
    this.#samples = this.#samples.slice(Math.max(0, first));
  }

  /** Bytes a second over the last seconds; undefined before there is anything to show. */
  get rate(): number | undefined {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last || last.at - first.at < 0.1) return undefined;
    return (last.bytes - first.bytes) / (last.at - first.at);
  }

  /** Seconds that are left when `fraction` of the work is done; undefined while that is a guess. */
  left(now: number, fraction: number): number | undefined {
    const elapsed = now - this.#started;
    if (elapsed < 1 || fraction < 0.01) return undefined;
    return (elapsed * (1 - fraction)) / fraction;
  }
}
