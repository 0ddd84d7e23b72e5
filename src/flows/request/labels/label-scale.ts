import type { Label } from "../../../hierarchy/slice-labels.ts";
import { packingOf, unpacked } from "../../../meta/conventions/cf/packing.ts";
import {
  instantText,
  isCoarser,
  parsePeriod,
  resolutionOf,
} from "../../../meta/conventions/cf-time/instants.ts";
import { type TimeCoding, timeCodingOf } from "../../../meta/conventions/cf-time/time-coding.ts";
import type { DataType } from "../../../meta/data-type.ts";
import { compareUtf8 } from "../../../util/utf8-order.ts";

/** A value of a coordinate as it is compared: a number, an instant in nanoseconds, or a text. */
export type Key = number | bigint | string;

/** The keys that a label means, both ends included; a date in part means all of a period. */
export interface Interval {
  readonly low: Key;
  readonly high: Key;
  /** Whether it means a span of a coordinate that has these keys, not one item. */
  readonly isSpan: (keys: Iterable<Key>) => boolean;
}

/** How values of a coordinate and labels become keys. */
export interface LabelScale {
  /** What labels must be, in words. */
  readonly expected: string;
  /** The key of a stored value; undefined for one that means nothing (NaN, NaT). */
  readonly keyOf: (value: unknown) => Key | undefined;
  /**
   * Undefined for a label of another kind.
   *
   * @param isPoint whether a date with a time of day means no more than its first instant
   */
  readonly intervalOf: (label: Label, isPoint: boolean) => Interval | undefined;
  readonly text: (key: Key) => string;
  /** Whether there is a distance between keys, and they are sorted as a rule. */
  readonly isMeasured: boolean;
  /** Whether keys are longitudes in degrees. */
  readonly isLongitude?: boolean;
  /** The year that a key is in; absent where keys are no times. */
  readonly yearOf?: (key: Key) => number;
}

/**
 * The scale of a coordinate array; undefined for data types that labels do not mean. Values equal to a missing value are
 * values: by the CF conventions a coordinate lacks none.
 *
 * @throws as `timeCodingOf`
 */
export function labelScaleOf(
  dataType: DataType,
  attributes: Readonly<Record<string, unknown>>,
): LabelScale | undefined {
  const packing = packingOf(dataType, attributes);
  const isScaled = packing?.scale !== undefined || packing?.offset !== undefined;
  const numberOf = (value: unknown) => {
    if (typeof value !== "number" && typeof value !== "bigint") return undefined;
    return packing ? unpacked(value, packing) : value;
  };
  const time = timeCodingOf(dataType, attributes);
  if (time) return timeScale(time, numberOf);
  const isLongitude = areLongitudes(attributes);
  switch (dataType.kind) {
    case "timedelta":
      return numberScale(numberOf, (label) => label);
    case "int":
    case "uint":
      return { ...numberScale(numberOf, (label) => label), isLongitude };
    case "float": {
      const round = dataType.size === 4 && !isScaled ? Math.fround : (label: number) => label;
      return { ...numberScale(numberOf, round), isLongitude };
    }
    case "string":
    case "fixed-text":
    case "fixed-bytes":
      return TEXT_SCALE;
    default:
      return undefined;
  }
}

/** Names of degrees to the east in CF, section 4.2. */
const EASTWARD_UNITS = /^degrees?_?e(?:ast)?$/i;

/** Whether attributes say that numbers are longitudes in degrees. */
function areLongitudes({ units, standard_name, axis }: Readonly<Record<string, unknown>>): boolean {
  if (typeof units === "string" && EASTWARD_UNITS.test(units.trim())) return true;
  const isDegrees = units === undefined || (typeof units === "string" && /^degrees?$/i.test(units.trim()));
  return isDegrees && (standard_name === "longitude" || (axis === "X" && units !== undefined));
}

export function compareKeys(a: Key, b: Key): number {
  if (typeof a === "string" && typeof b === "string") return compareUtf8(a, b);
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

const never = () => false;

function numberScale(
  numberOf: (value: unknown) => number | bigint | undefined,
  round: (label: number) => number,
): LabelScale {
  return {
    expected: "numbers",
    isMeasured: true,
    keyOf(value) {
      const number = numberOf(value);
      return Number.isNaN(number) ? undefined : number;
    },
    intervalOf(label) {
      const number = typeof label === "string" ? parseNumber(label) : label;
      if (typeof number !== "bigint" && (typeof number !== "number" || Number.isNaN(number)))
        return undefined;
      const key = typeof number === "bigint" ? number : round(number);
      return { low: key, high: key, isSpan: never };
    },
    text: (key) => `${key}`,
  };
}

function parseNumber(text: string): number | bigint | undefined {
  if (/^[+-]?\d+$/.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : BigInt(text.replace("+", ""));
  }
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

function timeScale(
  { calendar, instantOf }: TimeCoding,
  numberOf: (value: unknown) => number | bigint | undefined,
): LabelScale {
  return {
    expected: `dates such as 2019-03-01T12:00${calendar.name === "standard" ? "" : `, of the calendar ${calendar.name}`}`,
    isMeasured: true,
    keyOf(value) {
      const number = numberOf(value);
      return number === undefined ? undefined : instantOf(number);
    },
    intervalOf(label, isPoint) {
      const text = label instanceof Date && !Number.isNaN(label.getTime()) ? label.toISOString() : label;
      const period = typeof text === "string" ? parsePeriod(text, calendar) : undefined;
      if (period === undefined) return undefined;
      const { start, end, resolution } = period;
      if (isPoint && isCoarser("day", resolution)) return { low: start, high: start, isSpan: never };
      const isSpan = (keys: Iterable<Key>) => isCoarser(resolution, resolutionOf(keys as Iterable<bigint>));
      return { low: start, high: end - 1n, isSpan };
    },
    text: (key) => instantText(BigInt(key), calendar),
    yearOf: (key) => Number.parseInt(instantText(BigInt(key), calendar), 10),
  };
}

const utf8 = new TextDecoder();

const TEXT_SCALE: LabelScale = {
  expected: "texts",
  isMeasured: false,
  keyOf(value) {
    if (value instanceof Uint8Array) return utf8.decode(value);
    return typeof value === "string" ? value : undefined;
  },
  intervalOf: (label) => (typeof label === "string" ? { low: label, high: label, isSpan: never } : undefined),
  text: (key) => `${key}`,
};
