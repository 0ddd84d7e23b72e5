import { describe, expect, it } from "vitest";
import {
  CALENDAR_NAMES,
  calendarNamed,
  instantText,
  parsePeriod,
  prolepticGregorian,
  resolutionOf,
  timeCodingOf,
} from "../../../../src/meta/conventions/cf/time.ts";

function calendar(name: string) {
  const found = calendarNamed(name);
  if (found === undefined) throw new Error(`no calendar ${name}`);
  return found;
}

/** What a text means in a calendar, from its first instant to the one after it. */
function spanOf(text: string, name = "standard") {
  const period = parsePeriod(text, calendar(name));
  return period && [period.start, period.end].map((instant) => instantText(instant, calendar(name)));
}

describe("calendars", () => {
  it.each(CALENDAR_NAMES)("%s gives back every day", (name) => {
    const { dayNumber, dayAt } = calendar(name);
    const wrong: number[] = [];
    for (let at = -800_000; at < 100_000; at += at % 7 === 0 ? 1 : 13) {
      if (dayNumber(dayAt(at)) !== at) wrong.push(at);
    }
    expect(wrong).toEqual([]);
  });

  it("are Gregorian as JavaScript's own", () => {
    for (let at = -1_000_000; at < 1_000_000; at += 997) {
      const { year, month, day } = prolepticGregorian.dayAt(at);
      const date = new Date(at * 86_400_000);
      expect([year, month, day]).toEqual([date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]);
    }
  });

  it.each([
    ["standard", "1582-10-04", "1582-10-15"],
    ["proleptic_gregorian", "1582-10-04", "1582-10-05"],
    ["julian", "1900-02-28", "1900-02-29"],
    ["standard", "1900-02-28", "1900-03-01"],
    ["noleap", "2000-02-28", "2000-03-01"],
    ["all_leap", "1999-02-28", "1999-02-29"],
    ["360_day", "2000-02-30", "2000-03-01"],
    ["standard", "-0001-12-31", "0001-01-01"],
    ["proleptic_gregorian", "-0001-12-31", "0000-01-01"],
  ])("in %s, %s is before %s", (name, day, next) => {
    expect(spanOf(day, name)).toEqual([`${day}T00:00:00`, `${next}T00:00:00`]);
  });

  it.each([
    ["standard", "1582-10-10"],
    ["standard", "0000-01-01"],
    ["noleap", "2000-02-29"],
    ["360_day", "2000-01-31"],
    ["julian", "2000-13-01"],
    ["standard", "2001-02-29"],
  ])("%s lacks %s", (name, day) => expect(spanOf(day, name)).toBeUndefined());
});

describe("parsePeriod", () => {
  it.each([
    ["2019", "2019-01-01T00:00:00", "2020-01-01T00:00:00"],
    ["2019-12", "2019-12-01T00:00:00", "2020-01-01T00:00:00"],
    ["2020-02", "2020-02-01T00:00:00", "2020-03-01T00:00:00"],
    ["1582-10", "1582-10-01T00:00:00", "1582-11-01T00:00:00"],
    ["2019-03-01T23", "2019-03-01T23:00:00", "2019-03-02T00:00:00"],
    ["2019-03-01 12:30", "2019-03-01T12:30:00", "2019-03-01T12:31:00"],
    ["2019-03-01T12:30:59", "2019-03-01T12:30:59", "2019-03-01T12:31:00"],
    ["2019-03-01T12:30:00.5", "2019-03-01T12:30:00.500", "2019-03-01T12:30:00.501"],
    ["2019-03-01T12:30:00.000001", "2019-03-01T12:30:00.000001", "2019-03-01T12:30:00.000002"],
    ["2019-03-01T12:00+02:00", "2019-03-01T10:00:00", "2019-03-01T10:01:00"],
    ["2019-3-1 0:0:0 -0130", "2019-03-01T01:30:00", "2019-03-01T01:30:01"],
    ["2019-03-01T12:00Z", "2019-03-01T12:00:00", "2019-03-01T12:01:00"],
  ])("reads %s", (text, start, end) => expect(spanOf(text)).toEqual([start, end]));

  it.each(["", "today", "2019-", "2019-03-01T24", "2019-03-01T12:60", "2019/03/01", "1e3"])(
    "takes %j for no date",
    (text) => expect(spanOf(text)).toBeUndefined(),
  );
});

describe("resolutionOf", () => {
  const day = 86_400_000_000_000n;
  it.each([
    [[0n, day], "day"],
    [[0n, day / 24n], "hour"],
    [[-day, 1_000_000n], "millisecond"],
    [[day / 1440n, day / 24n], "minute"],
    [[1n], "nanosecond"],
    [[], "day"],
  ] as const)("case %#", (instants, resolution) => expect(resolutionOf(instants)).toBe(resolution));
});

describe("timeCodingOf", () => {
  const int = { kind: "int", size: 8 } as const;
  const text = (units: string, value: number | bigint, name = "standard") => {
    const coding = timeCodingOf(int, { units, calendar: name });
    const instant = coding?.instantOf(value);
    return coding && instant !== undefined ? instantText(instant, coding.calendar) : undefined;
  };

  it.each([
    ["hours since 1900-01-01 00:00:00.0", 1_043_424, "standard", "2019-01-13T00:00:00"],
    ["days since 1850-1-1", 1 / 24, "noleap", "1850-01-01T01:00:00"],
    ["days since 1900-01-01", 43_524 + 1 / 24, "standard", "2019-03-02T01:00:00"],
    ["seconds since 1970-01-01T00:00:00Z", 951_782_400n, "gregorian", "2000-02-29T00:00:00"],
    ["Days since 0001-01-01", -1, "julian", "-0001-12-31T00:00:00"],
    ["months since 2000-01-01", 14, "360_day", "2001-03-01T00:00:00"],
    ["common_years since 2000-01-01", 3, "365_day", "2003-01-01T00:00:00"],
    ["minutes since 2000-01-01 12:00 +2:00", 30, "standard", "2000-01-01T10:30:00"],
    ["msec since 2000-01-01", 1.5, "standard", "2000-01-01T00:00:00.001500"],
    ["ns since 2000-01-01", 15n, "standard", "2000-01-01T00:00:00.000000015"],
  ])("%s: %s of %s", (units, value, name, expected) => expect(text(units, value, name)).toBe(expected));

  it.each([
    ["m", 25, "1970-01-01T02:05:00", 5],
    ["Y", 30, "2000-01-01T00:00:00", 1],
    ["M", -1, "1969-12-01T00:00:00", 1],
    ["W", 1, "1970-01-08T00:00:00", 1],
    ["ps", 2000, "1970-01-01T00:00:00.000000002", 1],
  ])("datetime64[%s]", (unit, count, expected, scale) => {
    const coding = timeCodingOf({ kind: "datetime", size: 8, unit, scale }, {});
    const instant = coding?.instantOf(BigInt(count));
    expect(coding && instant !== undefined && instantText(instant, coding.calendar)).toBe(expected);
    expect(coding?.instantOf(-(2n ** 63n))).toBeUndefined();
  });

  it("takes no number for a time more than a million years away", () => {
    expect(text("days since 2000-01-01", 2n ** 62n)).toBeUndefined();
    expect(text("days since 2000-01-01", 1e300)).toBeUndefined();
    expect(text("days since 2000-01-01", 300_000_000n, "noleap")).toBe("823917-10-23T00:00:00");
    expect(timeCodingOf({ kind: "datetime", size: 8, unit: "Y", scale: 1 }, {})?.instantOf(2n ** 62n)).toBe(
      undefined,
    );
    expect(text(`days since 2000-01-01${" ".repeat(1_000_000)}x`, 1)).toBeUndefined();
  });

  it("says what it does not know", () => {
    expect(text("K", 1)).toBeUndefined();
    expect(() => text("months since 2000-01-01", 1)).toThrow("the unit months of the calendar standard");
    expect(() => text("days since then", 1)).toThrow("the reference date then");
    expect(() => text("days since 2000-01-01", 1, "lunar")).toThrow("the calendar lunar");
    expect(
      timeCodingOf({ kind: "float", size: 8 }, { units: "days since 2000-01-01" })?.instantOf(Number.NaN),
    ).toBe(undefined);
  });
});
