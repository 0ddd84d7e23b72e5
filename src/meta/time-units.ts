/** Units of NumPy's times and time differences. */
const UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];

/** Largest number of units per step. */
export const MAX_TIME_SCALE = 2 ** 31 - 1;

/** The unit in NumPy's spelling, accepting both Unicode letters for micro; undefined if it is not a unit. */
export function normalTimeUnit(unit: string): string | undefined {
  const name = unit === "\u03bcs" || unit === "\u00b5s" ? "us" : unit;
  return UNITS.includes(name) ? name : undefined;
}
