import { ZarrflowError } from "../../../util/errors.ts";
import { modulo, NAT } from "../../../util/numbers.ts";
import { onlyItem } from "../../assert-json.ts";
import type { DataType } from "../../data-type.ts";
import { isReal } from "../../number-kinds.ts";

/** A day of a calendar; months and days count from 1. */
export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** A calendar that numbers its days from its own 1970-01-01; earlier days are negative. */
export interface Calendar {
  readonly name: string;
  /** The number of a day; undefined for a day that does not exist in the calendar. */
  readonly dayNumber: (day: CalendarDay) => number | undefined;
  readonly dayAt: (dayNumber: number) => CalendarDay;
  /** The following year: calendars without a year 0 go from -1 to 1. */
  readonly yearAfter: (year: number) => number;
}

const DAYS_BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
const LEAP_DAYS_BEFORE = DAYS_BEFORE.map((days, month) => days + (month > 1 ? 1 : 0));

/** A rule of leap years, for years that include 0. */
interface LeapYears {
  readonly isLeap: (year: number) => boolean;
  /** Number of leap years from 1 to `year`; for years below 1, minus the number after `year` up to 0. */
  readonly upTo: (year: number) => number;
}

const every = (year: number, n: number) => Math.floor(year / n);
const gregorianYears: LeapYears = {
  isLeap: (year) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0),
  upTo: (year) => every(year, 4) - every(year, 100) + every(year, 400),
};
const julianYears: LeapYears = { isLeap: (year) => year % 4 === 0, upTo: (year) => every(year, 4) };
const noLeapYears: LeapYears = { isLeap: () => false, upTo: () => 0 };
const allLeapYears: LeapYears = { isLeap: () => true, upTo: (year) => year };

/** Days from 0001-01-01 to the first of a year. */
function daysBeforeYear(year: number, { upTo }: LeapYears): number {
  return 365 * (year - 1) + upTo(year - 1);
}

interface Count {
  readonly toNumber: (day: CalendarDay) => number | undefined;
  readonly toDay: (dayNumber: number) => CalendarDay;
}

function countBy(years: LeapYears, dayOfEpoch = daysBeforeYear(1970, years)): Count {
  const daysBefore = (year: number) => (years.isLeap(year) ? LEAP_DAYS_BEFORE : DAYS_BEFORE);
  return {
    toNumber({ year, month, day }) {
      const before = daysBefore(year);
      const first = before[month - 1];
      const next = before[month];
      if (first === undefined || next === undefined || day < 1 || first + day > next) return undefined;
      return daysBeforeYear(year, years) + first + day - 1 - dayOfEpoch;
    },
    toDay(dayNumber) {
      const days = dayNumber + dayOfEpoch;
      let year = Math.floor(days / 365.2425) + 1;
      while (daysBeforeYear(year, years) > days) year--;
      while (daysBeforeYear(year + 1, years) <= days) year++;
      const within = days - daysBeforeYear(year, years);
      const before = daysBefore(year);
      const month = before.findLastIndex((first) => first <= within) + 1;
      return { year, month, day: within - (before[month - 1] ?? 0) + 1 };
    },
  };
}

const gregorian = countBy(gregorianYears);
const julian = countBy(julianYears);

/** 1582-10-15 of the Gregorian calendar, the day after 1582-10-04 of the Julian. */
const REFORM = gregorian.toNumber({ year: 1582, month: 10, day: 15 }) ?? 0;
const lastJulian = julian.toNumber({ year: 1582, month: 10, day: 4 }) ?? 0;
const julianBeforeReform = countBy(
  julianYears,
  daysBeforeYear(1970, julianYears) - (REFORM - 1 - lastJulian),
);

/** The Julian calendar up to 1582-10-04, then the Gregorian. */
const mixed: Count = {
  toNumber(day) {
    const late = gregorian.toNumber(day);
    if (late !== undefined && late >= REFORM) return late;
    const early = julianBeforeReform.toNumber(day);
    return early !== undefined && early < REFORM ? early : undefined;
  },
  toDay: (dayNumber) => (dayNumber >= REFORM ? gregorian : julianBeforeReform).toDay(dayNumber),
};

const months30: Count = {
  toNumber({ year, month, day }) {
    if (month < 1 || month > 12 || day < 1 || day > 30) return undefined;
    return 360 * (year - 1970) + 30 * (month - 1) + day - 1;
  },
  toDay(dayNumber) {
    const years = Math.floor(dayNumber / 360);
    const within = dayNumber - 360 * years;
    return { year: 1970 + years, month: Math.floor(within / 30) + 1, day: (within % 30) + 1 };
  },
};

function withYearZero(name: string, { toNumber, toDay }: Count): Calendar {
  return { name, dayNumber: toNumber, dayAt: toDay, yearAfter: (year) => year + 1 };
}

/** The year before 1 is -1, as in cftime. */
function withoutYearZero(name: string, { toNumber, toDay }: Count): Calendar {
  return {
    name,
    dayNumber: (day) => {
      if (day.year === 0) return undefined;
      return toNumber(day.year > 0 ? day : { ...day, year: day.year + 1 });
    },
    dayAt: (dayNumber) => {
      const day = toDay(dayNumber);
      return day.year > 0 ? day : { ...day, year: day.year - 1 };
    },
    yearAfter: (year) => (year === -1 ? 1 : year + 1),
  };
}

export const prolepticGregorian = withYearZero("proleptic_gregorian", gregorian);
const standard = withoutYearZero("standard", mixed);
const noLeap = withYearZero("noleap", countBy(noLeapYears));
const allLeap = withYearZero("all_leap", countBy(allLeapYears));

const CALENDARS: Readonly<Record<string, Calendar>> = {
  standard,
  gregorian: standard,
  proleptic_gregorian: prolepticGregorian,
  noleap: noLeap,
  "365_day": noLeap,
  all_leap: allLeap,
  "366_day": allLeap,
  "360_day": withYearZero("360_day", months30),
  julian: withoutYearZero("julian", julian),
};

/** Names of the CF calendars, including aliases. */
export const CALENDAR_NAMES: readonly string[] = Object.keys(CALENDARS);

/** Finds the calendar with a CF name, ignoring case; undefined if it is unknown. */
export function calendarNamed(name: string): Calendar | undefined {
  const key = name.toLowerCase();
  return Object.hasOwn(CALENDARS, key) ? CALENDARS[key] : undefined;
}

/** Nanoseconds since 1970-01-01T00:00 of a calendar. */
export type Instant = bigint;

export const NS_PER_SECOND = 1_000_000_000n;
export const NS_PER_DAY = 86_400n * NS_PER_SECOND;

/** The smallest unit that a date specifies, from coarse to fine. */
const RESOLUTIONS = [
  ["year", undefined],
  ["month", undefined],
  ["day", NS_PER_DAY],
  ["hour", 3600n * NS_PER_SECOND],
  ["minute", 60n * NS_PER_SECOND],
  ["second", NS_PER_SECOND],
  ["millisecond", 1_000_000n],
  ["microsecond", 1000n],
  ["nanosecond", 1n],
] as const;

export type Resolution = (typeof RESOLUTIONS)[number][0];

/** The time span that a date specifies, such as the whole month for `2019-03`. */
export interface Period {
  readonly start: Instant;
  /** The first instant after it. */
  readonly end: Instant;
  readonly resolution: Resolution;
}

const DATE =
  /^([+-]?\d{1,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:(?:T|\s+)(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9})\d*)?)?)?)?\s*(Z|UTC|GMT|[+-]\d{1,2}(?::?\d{2})?)?)?)?$/i;

/**
 * Parses a complete or partial ISO 8601 date: `2019`, `2019-03`, `2019-03-01T12:00`, with an optional time zone.
 * Undefined for other text and for a date that does not exist in the calendar.
 */
export function parsePeriod(text: string, calendar: Calendar): Period | undefined {
  const match = DATE.exec(text.trim());
  if (match === null) return undefined;
  const [, year = "", month, day, hour, minute, second, fraction, zone = ""] = match;
  const date = { year: Number(year), month: Number(month ?? 1), day: Number(day ?? 1) };
  const days = calendar.dayNumber(date);
  const clock = [hour, minute, second].map((part) => Number(part ?? 0));
  const [h = 0, min = 0, s = 0] = clock;
  if (days === undefined || h > 23 || min > 59 || s > 59) return undefined;
  const ns = BigInt((fraction ?? "").padEnd(9, "0"));
  const time = BigInt(3600 * h + 60 * min + s) * NS_PER_SECOND + ns;
  const start = BigInt(days) * NS_PER_DAY + time - zoneOffset(zone);
  if (month === undefined) {
    return {
      start,
      end: startOf({ ...date, year: calendar.yearAfter(date.year) }, calendar),
      resolution: "year",
    };
  }
  if (day === undefined)
    return { start, end: startOf(nextMonth(date, calendar), calendar), resolution: "month" };
  const parts = [hour, minute, second].filter((part) => part !== undefined).length;
  const digits = fraction === undefined ? 0 : Math.ceil(fraction.length / 3);
  const [resolution, length = 1n] = RESOLUTIONS[2 + parts + digits] ?? RESOLUTIONS[8];
  return { start, end: start + length, resolution };
}

function nextMonth({ year, month, day }: CalendarDay, { yearAfter }: Calendar): CalendarDay {
  return month < 12 ? { year, month: month + 1, day } : { year: yearAfter(year), month: 1, day };
}

function startOf(day: CalendarDay, calendar: Calendar): Instant {
  return BigInt(calendar.dayNumber(day) ?? 0) * NS_PER_DAY;
}

function zoneOffset(zone: string): bigint {
  const [, sign, hours = "", minutes = "0"] = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone) ?? [];
  if (sign === undefined) return 0n;
  const seconds = 3600 * Number(hours) + 60 * Number(minutes);
  return BigInt(sign === "-" ? -seconds : seconds) * NS_PER_SECOND;
}

/** The coarsest resolution, from days on, that represents all instants exactly. */
export function resolutionOf(instants: Iterable<Instant>): Resolution {
  let at = 2;
  for (const instant of instants) {
    while (at < RESOLUTIONS.length - 1 && instant % (RESOLUTIONS[at]?.[1] ?? 1n) !== 0n) at++;
  }
  return RESOLUTIONS[at]?.[0] ?? "nanosecond";
}

/** True if `a` is coarser than `b`. */
export function isCoarser(a: Resolution, b: Resolution): boolean {
  const rank = (name: Resolution) => RESOLUTIONS.findIndex(([one]) => one === name);
  return rank(a) < rank(b);
}

/** Formats an instant as ISO 8601, with a fraction of seconds only if needed: `2019-03-01T12:00:00`. */
export function instantText(instant: Instant, calendar: Calendar): string {
  const time = ((instant % NS_PER_DAY) + NS_PER_DAY) % NS_PER_DAY;
  const { year, month, day } = calendar.dayAt(Number((instant - time) / NS_PER_DAY));
  const two = (part: number) => `${part}`.padStart(2, "0");
  const seconds = Number(time / NS_PER_SECOND);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(":");
  const ns = time % NS_PER_SECOND;
  const digits = ns % 1_000_000n === 0n ? 3 : ns % 1000n === 0n ? 6 : 9;
  const fraction = ns === 0n ? "" : `.${`${ns}`.padStart(9, "0").slice(0, digits)}`;
  const years = `${year < 0 ? "-" : ""}${`${Math.abs(year)}`.padStart(4, "0")}`;
  return `${years}-${two(month)}-${two(day)}T${clock}${fraction}`;
}

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
  if (!isReal(dataType) || typeof units !== "string") return undefined;
  if (units.length > MAX_UNITS_LENGTH) return undefined;
  const match = /^\s*(\S+)\s+since\s+(.+?)\s*$/i.exec(units);
  if (match === null) return undefined;
  const [, unit = "", reference = ""] = match;
  const name = typeof calendar === "string" && calendar !== "" ? calendar : "standard";
  const known = calendarNamed(name);
  if (known === undefined)
    throw notKnown(`the calendar ${name}`, `Supported calendars are ${CALENDAR_NAMES.join(", ")}.`);
  const length = unitLength(unit, known);
  if (length === undefined) {
    throw notKnown(
      `the unit ${unit} of the calendar ${name}`,
      "Supported units are days, hours, minutes, seconds and fractions of seconds.",
    );
  }
  const start = parsePeriod(reference, known)?.start;
  if (start === undefined)
    throw notKnown(`the reference date ${reference} in units`, "Dates have the form 1900-01-01 00:00:00.");
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
      const month = modulo(months, 12);
      const day = { year: 1970 + (months - month) / 12, month: month + 1, day: 1 };
      return BigInt(calendar.dayNumber(day) ?? 0) * NS_PER_DAY;
    });
  }
  const length = NUMPY_UNITS[unit];
  if (length !== undefined) return coding((count) => count * length, length === 1n);
  const finer = FINER_UNITS[unit];
  if (finer !== undefined) return coding((count) => count / finer, true);
  throw notKnown(`the unit ${unit} of times`, "Select items by index.");
}

function notKnown(what: string, hint: string): ZarrflowError {
  return new ZarrflowError("unsupported-operation", `${what} is not supported`, { hint });
}
