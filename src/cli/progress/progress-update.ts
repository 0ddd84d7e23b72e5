import { formatDuration } from "../../flows/text/numbers.ts";
import { formatBytes } from "../../util/byte-size.ts";
import type { Meter } from "./meter.ts";

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
