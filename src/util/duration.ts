import { ZarrflowError } from "./errors.ts";

const UNITS: Readonly<Record<string, number>> = { "": 1000, ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/**
 * Converts a time such as `20s`, `500ms` or `1.5min`, or a plain number of seconds, to milliseconds.
 *
 * @throws `invalid-option`
 */
export function parseDuration(time: string | number): number {
  const milliseconds = millisecondsOf(time);
  if (milliseconds > 0) return milliseconds;
  throw new ZarrflowError("invalid-option", `${JSON.stringify(time)} is not a time`, {
    hint: "Write a number of seconds, or a number with ms, s, min or h, such as 20s.",
  });
}

/** True if `parseDuration` accepts the value. */
export function isDuration(value: unknown): boolean {
  return (typeof value === "string" || typeof value === "number") && millisecondsOf(value) > 0;
}

/** Returns NaN if it is not a time, or is longer than a timer can wait. */
function millisecondsOf(time: string | number): number {
  const [, number, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/.exec(String(time)) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  return milliseconds < 2 ** 31 ? milliseconds : Number.NaN;
}
