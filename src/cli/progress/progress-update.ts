import { formatDuration } from "../../flows/text/numbers.ts";
import { formatBytes } from "../../util/byte-size.ts";
import type { Meter } from "./meter.ts";

/** How far a run is. */
export interface ProgressUpdate {
  /** Part of the work that is done, 0 to 1; absent where nobody knows how much there is. */
  readonly fraction?: number | undefined;
  /** Bytes that went so far: what the rate is made of. */
  readonly bytes: number;
  /** What went so far, in words. */
  readonly words: readonly string[];
  /** Lines below, on a terminal that can draw. */
  readonly lines?: readonly string[];
}

/** Percentage, words, rate and time left. */
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
