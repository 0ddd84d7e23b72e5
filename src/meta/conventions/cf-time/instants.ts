import type { Calendar, CalendarDay } from "./calendars.ts";

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
