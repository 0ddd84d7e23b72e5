/** Seconds that the rate is taken over, and the time that is left. */
const SPAN = 5;
const LONG_SPAN = 30;
/** The shortest time from which the time that is left is no guess. */
const MIN_SPAN = 1;

interface Measured {
  readonly at: number;
  readonly bytes: number;
  readonly fraction: number | undefined;
}

/** How fast bytes go, of late, and how long the rest will take at that rate. */
export class Meter {
  #samples: Measured[];

  /** @param now seconds on a clock that only goes forward */
  constructor(now: number) {
    this.#samples = [{ at: now, bytes: 0, fraction: undefined }];
  }

  /** Notes how many bytes went in all, and what part of the work they are, by bytes. */
  note(now: number, bytes: number, fraction?: number): void {
    this.#samples.push({ at: now, bytes, fraction });
    this.#samples = this.#since(now - LONG_SPAN);
  }

  /** Bytes a second over the last seconds; undefined before there is anything to show. */
  get rate(): number | undefined {
    const last = this.#samples.at(-1);
    const first = last && this.#since(last.at - SPAN)[0];
    if (!first || last.at - first.at < 0.1) return undefined;
    return (last.bytes - first.bytes) / (last.at - first.at);
  }

  /** Seconds that are left when `fraction` of the work is done; undefined while that is a guess, or nothing goes on. */
  left(fraction: number): number | undefined {
    const known = this.#samples.filter((sample) => sample.fraction !== undefined);
    const first = known[0];
    const last = known.at(-1);
    if (first?.fraction === undefined || last?.fraction === undefined) return undefined;
    const [seconds, done] = [last.at - first.at, last.fraction - first.fraction];
    return seconds < MIN_SPAN || done < 0.001 ? undefined : (seconds * (1 - fraction)) / done;
  }

  #since(at: number): Measured[] {
    const first = this.#samples.findIndex((sample) => sample.at >= at);
    return this.#samples.slice(Math.max(0, first));
  }
}
