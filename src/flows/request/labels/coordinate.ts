import { fillData } from "../../../codecs/filled-data.ts";
import type { ZarrArray } from "../../../hierarchy/node.ts";
import type { Label } from "../../../hierarchy/slice-option.ts";
import { packingOf, unpacked } from "../../../meta/conventions/cf/packing.ts";
import {
  instantText,
  isCoarser,
  parsePeriod,
  resolutionOf,
  type TimeCoding,
  timeCodingOf,
} from "../../../meta/conventions/cf/time.ts";
import type { DataType } from "../../../meta/data-type.ts";
import { typedValues } from "../../../run/slabs/typed-values.ts";
import { decodedChunks } from "../../../streams/read-chunks.ts";
import { selectionOf } from "../../../streams/selection.ts";
import { plainBuffers } from "../../../util/bytes.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { compareUtf8 } from "../../../util/names.ts";
import { formatBytes } from "../../../util/units.ts";

/** Estimated memory of one key. */
const KEY_BYTES = 16;

export interface CoordinateOptions {
  /** Maximum bytes of the coordinate's values. */
  readonly maxMemory: number;
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/** The values of a 1-d array, as keys. Reads each chunk once, when one of its items is needed. */
export class Coordinate {
  readonly array: ZarrArray;
  readonly scale: LabelScale;
  readonly #options: CoordinateOptions;
  readonly #chunks = new Map<number, readonly (Key | undefined)[]>();
  #items = 0;

  /** @param array opened at the level of its inner chunks */
  constructor(array: ZarrArray, scale: LabelScale, options: CoordinateOptions) {
    this.array = array;
    this.scale = scale;
    this.#options = options;
  }

  get length(): number {
    return this.array.shape[0] ?? 0;
  }

  get #chunkLength(): number {
    return this.array.chunkShape[0] ?? 1;
  }

  async keyAt(index: number): Promise<Key | undefined> {
    const chunk = Math.floor(index / this.#chunkLength);
    if (!this.#chunks.has(chunk)) await this.#read(chunk * this.#chunkLength, this.#chunkLength);
    return this.#chunks.get(chunk)?.[index % this.#chunkLength];
  }

  /** Reads all keys, in order. */
  async all(): Promise<(Key | undefined)[]> {
    if (this.#items < this.length) {
      this.#items = 0;
      await this.#read(0, this.length);
    }
    return this.#inOrder();
  }

  /** The keys read so far, in order. */
  known(): Key[] {
    return this.#inOrder().filter((key) => key !== undefined);
  }

  /** True if all values read so far are valid and sorted: ascending, or descending if `direction` is -1. */
  isSorted(direction: number): boolean {
    const keys = this.#inOrder();
    return keys.every((key, i) => {
      const before = keys[i - 1];
      return key !== undefined && (before === undefined || direction * compareLabels(before, key) <= 0);
    });
  }

  #inOrder(): (Key | undefined)[] {
    return [...this.#chunks].sort(([a], [b]) => a - b).flatMap(([, keys]) => keys);
  }

  async #read(start: number, count: number): Promise<void> {
    const { array, scale } = this;
    const { maxMemory, concurrency, signal } = this.#options;
    const length = Math.min(count, this.length - start);
    this.#items += length;
    if (this.#items * KEY_BYTES > maxMemory) throw this.#tooLarge();
    const pipeline = await array.pipeline();
    const selection = selectionOf({ start: [start], shape: [length] });
    for await (const piece of decodedChunks(array, selection, { concurrency, signal })) {
      const values = typedValues(
        piece.data ?? fillData(pipeline.spec, plainBuffers),
        array.metadata.dataType,
      );
      const keys = Array.from({ length: piece.region.shape[0] ?? 0 }, (_, i) => scale.keyOf(values.at(i)));
      this.#chunks.set(Math.floor((piece.region.start[0] ?? 0) / this.#chunkLength), keys);
    }
  }

  #tooLarge(): ZarrflowError {
    const { maxMemory } = this.#options;
    return new ZarrflowError("resource-limit", "the coordinate is too large to look up labels in", {
      path: this.array.path,
      expected: `at most ${formatBytes(maxMemory)}`,
      hint: "Allow more memory with --max-mem (in code maxMemory), or use indices.",
    });
  }
}

/** A coordinate value in comparable form: a number, an instant in nanoseconds, or a text. */
export type Key = number | bigint | string;

/** The keys that a label covers, both ends included. A partial date covers a whole period. */
export interface Interval {
  readonly low: Key;
  readonly high: Key;
  /** True if the label means a range of items, not a single one, in a coordinate with these keys. */
  readonly isSpan: (keys: Iterable<Key>) => boolean;
}

/** Converts coordinate values and labels to keys. */
export interface LabelScale {
  /** The expected kind of labels, as text. */
  readonly expected: string;
  /** Returns the key of a stored value; undefined for NaN and NaT. */
  readonly keyOf: (value: unknown) => Key | undefined;
  /**
   * Returns the interval of a label; undefined for a label of another kind.
   *
   * @param isPoint true if a date with a time of day covers only its first instant
   */
  readonly intervalOf: (label: Label, isPoint: boolean) => Interval | undefined;
  readonly text: (key: Key) => string;
  /** True if distances between keys are meaningful; such keys are usually sorted. */
  readonly isMeasured: boolean;
  /** True if keys are longitudes in degrees. */
  readonly isLongitude?: boolean;
  /** Returns the year of a key; absent if keys are not times. */
  readonly yearOf?: (key: Key) => number;
}

/**
 * Returns the scale of a coordinate array; undefined for data types without labels. Missing values are ordinary
 * values here, as the CF conventions do not allow them in coordinates.
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

/** Units of degrees east in the CF conventions, section 4.2. */
const EASTWARD_UNITS = /^degrees?_?e(?:ast)?$/i;

/** True if attributes mark numbers as longitudes in degrees. */
function areLongitudes({ units, standard_name, axis }: Readonly<Record<string, unknown>>): boolean {
  if (typeof units === "string" && EASTWARD_UNITS.test(units.trim())) return true;
  const isDegrees = units === undefined || (typeof units === "string" && /^degrees?$/i.test(units.trim()));
  return isDegrees && (standard_name === "longitude" || (axis === "X" && units !== undefined));
}

export function compareLabels(a: Key, b: Key): number {
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
