import { ZarrflowError } from "../../../util/errors.ts";
import { onlyItem } from "../../assert-json.ts";
import type { DataType } from "../../data-type.ts";
import { CALENDAR_NAMES, type Calendar, calendarNamed, prolepticGregorian } from "./calendars.ts";
import { type Instant, NS_PER_DAY, NS_PER_SECOND, parsePeriod } from "./instants.ts";

/** How an array encodes times as numbers. */
export interface TimeCoding {
  readonly calendar: Calendar;
  /**
   * Decodes a number; undefined for NaN, NaT, and times more than a million years away. Fractions are rounded to a
   * microsecond, so that 1/24 of a day is an hour.
   */
  readonly instantOf: (value: number | bigint) => Instant | undefined;
  /** True if the numbers count nanoseconds or finer units; other times are exact to a microsecond at most. */
  readonly isInNanoseconds: boolean;
}

/** Attributes that define the encoding of times, section 4.4 of the CF conventions. */
export interface TimeAttributes {
  readonly units?: unknown;
  readonly calendar?: unknown;
}

/** Units are a few words; longer texts are not units. */
const MAX_UNITS_LENGTH = 200;

/** A million years. */
const MAX_INSTANT = 365_250_000n * NS_PER_DAY;

/** Returns the instant, or undefined if it is too far away for calendars. */
function withinReach(instant: Instant | undefined): Instant | undefined {
  if (instant === undefined || instant > MAX_INSTANT || instant < -MAX_INSTANT) return undefined;
  return instant;
}

/** Units with their names in cftime, in nanoseconds. */
const UNITS: readonly (readonly [ns: bigint, ...names: string[]])[] = [
  [1n, "nanosecond", "nanoseconds", "nanosec", "nanosecs", "ns"],
  [1000n, "microsecond", "microseconds", "microsec", "microsecs", "us"],
  [1_000_000n, "millisecond", "milliseconds", "millisec", "millisecs", "msec", "msecs", "ms"],
  [NS_PER_SECOND, "second", "seconds", "sec", "secs", "s"],
  [60n * NS_PER_SECOND, "minute", "minutes", "min", "mins"],
  [3600n * NS_PER_SECOND, "hour", "hours", "hr", "hrs", "h"],
  [NS_PER_DAY, "day", "days", "d"],
];

/** Units that have a fixed length in one calendar and are invalid in the others, as in cftime. */
const UNITS_OF_CALENDAR: Readonly<Record<string, readonly [ns: bigint, ...names: string[]]>> = {
  "360_day": [30n * NS_PER_DAY, "month", "months"],
  noleap: [365n * NS_PER_DAY, "common_year", "common_years"],
};

/**
 * Returns the time encoding of an array, from `units` such as `hours since 1900-01-01` or from its data type.
 * Undefined for numbers that are not times.
 *
 * @throws `unsupported-operation` for units, a reference or a calendar that CF does not define.
 */
export function timeCodingOf(dataType: DataType, attributes: TimeAttributes): TimeCoding | undefined {
  const [units, calendar] = [onlyItem(attributes.units), onlyItem(attributes.calendar)];
  if (dataType.kind === "datetime") return datetimeCoding(dataType.unit, dataType.scale);
  if (!["int", "uint", "float"].includes(dataType.kind) || typeof units !== "string") return undefined;
  if (units.length > MAX_UNITS_LENGTH) return undefined;
  const match = /^\s*(\S+)\s+since\s+(.+?)\s*$/i.exec(units);
  if (match === null) return undefined;
  const [, unit = "", reference = ""] = match;
  const name = typeof calendar === "string" && calendar !== "" ? calendar : "standard";
  const known = calendarNamed(name);
  if (known === undefined)
    throw notKnown(`the calendar ${name}`, `Calendars are ${CALENDAR_NAMES.join(", ")}.`);
  const length = unitLength(unit, known);
  if (length === undefined) {
    throw notKnown(
      `the unit ${unit} of the calendar ${name}`,
      "Units are days, hours, minutes, seconds or less.",
    );
  }
  const start = parsePeriod(reference, known)?.start;
  if (start === undefined)
    throw notKnown(`the reference date ${reference} in units`, "Dates are written 1900-01-01 00:00:00.");
  return {
    calendar: known,
    instantOf: (value) => withinReach(instantAfter(start, value, length)),
    isInNanoseconds: length === 1n,
  };
}

/** How xarray encodes time spans as numbers. */
export interface SpanCoding {
  /** Unit of decoded lengths: s, ms, us or ns. */
  readonly unit: string;
  /** Decodes a number; undefined for missing ones. */
  readonly lengthOf: (value: number | bigint) => bigint | undefined;
}

/**
 * Returns the encoding of time spans, from units without a reference date and the `dtype` that xarray writes with
 * them.
 */
export function spanCodingOf(attributes: {
  readonly units?: unknown;
  readonly dtype?: unknown;
}): SpanCoding | undefined {
  const [units, dtype] = [onlyItem(attributes.units), onlyItem(attributes.dtype)];
  if (typeof units !== "string" || typeof dtype !== "string") return undefined;
  const [, unit = ""] = /^timedelta64\[(s|ms|us|ns)\]$/.exec(dtype) ?? [];
  const to = NUMPY_UNITS[unit];
  const from = UNITS.find(([, , ...names]) => names.includes(units))?.[0];
  if (to === undefined || from === undefined) return undefined;
  return {
    unit,
    lengthOf: (value) => {
      const length = value === NAT ? undefined : instantAfter(0n, value, from);
      return length === undefined ? undefined : length / to;
    },
  };
}

function unitLength(unit: string, { name }: Calendar): bigint | undefined {
  const lower = unit.toLowerCase();
  const own = UNITS_OF_CALENDAR[name];
  return [...UNITS, ...(own ? [own] : [])].find(([, ...names]) => names.includes(lower))?.[0];
}

function instantAfter(start: Instant, value: number | bigint, unit: bigint): Instant | undefined {
  if (typeof value === "bigint") return start + value * unit;
  if (!Number.isFinite(value)) return undefined;
  const whole = Math.trunc(value);
  if (whole === value) return start + BigInt(whole) * unit;
  const step = unit < 1000n ? unit : 1000n;
  return start + BigInt(whole) * unit + BigInt(Math.round((value - whole) * Number(unit / step))) * step;
}

/** NumPy's time units of constant length, in nanoseconds. */
const NUMPY_UNITS: Readonly<Record<string, bigint>> = {
  W: 7n * NS_PER_DAY,
  D: NS_PER_DAY,
  h: 3600n * NS_PER_SECOND,
  m: 60n * NS_PER_SECOND,
  s: NS_PER_SECOND,
  ms: 1_000_000n,
  us: 1000n,
  μs: 1000n,
  ns: 1n,
};
/** Finer units, by their number per nanosecond. */
const FINER_UNITS: Readonly<Record<string, bigint>> = { ps: 10n ** 3n, fs: 10n ** 6n, as: 10n ** 9n };
const NAT = -(2n ** 63n);

function datetimeCoding(unit: string, scale: number): TimeCoding {
  const calendar = prolepticGregorian;
  const by = BigInt(scale);
  const times = (value: number | bigint) => (BigInt(value) === NAT ? undefined : BigInt(value) * by);
  const coding = (instantOf: (count: bigint) => Instant, isInNanoseconds = false): TimeCoding => ({
    calendar,
    isInNanoseconds,
    instantOf: (value) => {
      const count = times(value);
      return count === undefined ? undefined : withinReach(instantOf(count));
    },
  });
  if (unit === "Y" || unit === "M") {
    const perCount = unit === "Y" ? 12 : 1;
    return coding((count) => {
      const months = Number(count) * perCount;
      const month = ((months % 12) + 12) % 12;
      const day = { year: 1970 + (months - month) / 12, month: month + 1, day: 1 };
      return BigInt(calendar.dayNumber(day) ?? 0) * NS_PER_DAY;
    });
  }
  const length = NUMPY_UNITS[unit];
  if (length !== undefined) return coding((count) => count * length, length === 1n);
  const finer = FINER_UNITS[unit];
  if (finer !== undefined) return coding((count) => count / finer, true);
  throw notKnown(`the unit ${unit} of times`, "Take the items by their indices.");
}

function notKnown(what: string, hint: string): ZarrflowError {
  return new ZarrflowError("unsupported-operation", `${what} is not supported`, { hint });
}
