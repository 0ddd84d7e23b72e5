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
