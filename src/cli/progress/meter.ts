import { formatDuration } from "../../flows/text/format.ts";
import { formatBytes } from "../../util/units.ts";

/** Seconds of measurements for the rate, and for the time left. */
const SPAN = 5;
const LONG_SPAN = 30;
/** Seconds of measurement below which the time left would be a guess. */
const MIN_SPAN = 1;

interface Measured {
  readonly at: number;
  readonly bytes: number;
  readonly fraction: number | undefined;
}

/** Measures the recent rate, and estimates the time left. */
export class Meter {
  #samples: Measured[];

  /** @param now seconds of a monotonic clock */
  constructor(now: number) {
    this.#samples = [{ at: now, bytes: 0, fraction: undefined }];
  }

  /** Records the bytes moved in all, and the fraction of the work, by bytes, that is done. */
  note(now: number, bytes: number, fraction?: number): void {
    this.#samples.push({ at: now, bytes, fraction });
    this.#samples = this.#since(now - LONG_SPAN);
  }

  /** Bytes per second over the last seconds; undefined until enough is measured. */
  get rate(): number | undefined {
    const last = this.#samples.at(-1);
    const first = last && this.#since(last.at - SPAN)[0];
    if (!first || last.at - first.at < 0.1) return undefined;
    return (last.bytes - first.bytes) / (last.at - first.at);
  }

  /** Seconds left when `fraction` of the work is done; undefined while that is a guess, or nothing advances. */
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

export interface ProgressUpdate {
  /** Completed part of the work, 0 to 1; absent if the total is unknown. */
  readonly fraction?: number | undefined;
  /** Bytes moved so far, from which the rate is computed. */
  readonly bytes: number;
  /** The work so far, in words. */
  readonly words: readonly string[];
  /** Lines below the bar, on a terminal that can draw. */
  readonly lines?: readonly string[];
}

/** Formats percentage, words, rate and time left. */
export function advanceText({ fraction, words }: ProgressUpdate, meter: Meter): string {
  const left = fraction === undefined ? undefined : meter.left(fraction);
  const parts = [
    fraction !== undefined && `${Math.floor(100 * fraction)}%`.padStart(4),
    ...words,
    meter.rate !== undefined && `${formatBytes(meter.rate)}/s`,
    left !== undefined && `${formatDuration(left)} left`,
  ];
  return parts.filter((part) => part !== false).join("  ");
}
