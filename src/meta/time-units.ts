/** Units of NumPy's times and time differences. */
const UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];

/** Largest count of units that one step may have. */
export const MAX_TIME_SCALE = 2 ** 31 - 1;

/** The unit as NumPy writes it; undefined when it is none. Both letters in use for micro are read. */
export function normalTimeUnit(unit: string): string | undefined {
  const name = unit === "\u03bcs" || unit === "\u00b5s" ? "us" : unit;
  return UNITS.includes(name) ? name : undefined;
}
