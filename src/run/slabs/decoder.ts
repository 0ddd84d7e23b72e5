import type { ZarrArray } from "../../hierarchy/node.ts";
import type { ArrayMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { onlyItem } from "../../meta/assert-json.ts";
import {
  numberIn,
  type Packing,
  packingOf,
  rereadInteger,
  unpacked,
} from "../../meta/conventions/cf/packing.ts";
import {
  type Calendar,
  instantText,
  spanCodingOf,
  type TimeCoding,
  timeCodingOf,
} from "../../meta/conventions/cf/time.ts";
import { flagNamesOf, outsideValidRange } from "../../meta/conventions/cf/values.ts";
import {
  isVariableIn,
  missingValueOf,
  parseMissing,
  statedMissing,
} from "../../meta/conventions/missing-values.ts";
import type { DataType } from "../../meta/data-type.ts";
import { describeDataType } from "../../meta/data-type-name.ts";
import {
  isReal,
  numberKindOf,
  type RealDataType,
  readNumber,
  typedArrayOf,
} from "../../meta/number-kinds.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { JsonValue } from "../../util/json-value.ts";
import { NAT } from "../../util/numbers.ts";
import { itemReader } from "./item-value.ts";
import type { ValueDecodingOptions } from "./raw.ts";
import type { ItemValues, TypedValues } from "./typed-values.ts";

/** Values in a typed array, or in a list, in which null marks a missing value. */
export type DecodedValues = TypedValues | readonly (string | null)[];

/** Converts stored values to their decoded form. */
export interface Decoder {
  /** Type of the decoded values: missing floats are NaN, missing times NaT. */
  readonly dataType: DataType;
  /** Calendar of values that are times. */
  readonly calendar?: Calendar;
  /** Reason why numbers become text, in words; absent if they do not. */
  readonly whyText?: string;
  /** Absent if stored values need no decoding. */
  readonly decode?: (values: TypedValues) => DecodedValues;
}

/** Calendars whose times NumPy and other programs can count. */
const COUNTED = ["standard", "proleptic_gregorian"];

/**
 * Returns the decoder of an array's values. By default nothing is decoded.
 *
 * @param isCoordinate true if it contains the labels of its own dimension, which never have missing values
 * @throws `invalid-option` for `flags` if the array has none; as `timeCodingOf`.
 */
export function decoderOf(
  array: Pick<ZarrArray, "path" | "metadata" | "attributes" | "layout">,
  { decode = false, flags = false }: ValueDecodingOptions,
  isCoordinate = false,
): Decoder {
  const { metadata, attributes } = array;
  const { dataType } = metadata;
  if (flags) return flagDecoder(array, isCoordinate);
  const { calendar } = (dataType.kind === "datetime" && timeCodingOf(dataType, {})) || {};
  const plain: Decoder = { dataType, ...(calendar && { calendar }) };
  if (!decode) return plain;
  const coding = numberCodingOf(array, isCoordinate);
  if (coding === undefined) return textDecoder(array, isCoordinate) ?? plain;
  const { packing, numbers, isMissing, scaled } = coding;
  assertNumbers(array);
  const time = timesOf(array);
  if (time) return timeDecoder(time, coding);
  const span = spanCodingOf(attributes);
  if (span) {
    return {
      dataType: { kind: "timedelta", size: 8, unit: span.unit, scale: 1 },
      decode: (values) =>
        BigInt64Array.from(numbers(values), (value) =>
          isMissing?.(value) ? NAT : (span.lengthOf(scaled ? scaled(value) : value) ?? NAT),
        ),
    };
  }
  if (onlyItem(attributes.dtype) === "bool") {
    return {
      dataType: { kind: "bool", size: 1 },
      decode: (values) => Uint8Array.from(numbers(values), (value) => (value ? 1 : 0)),
    };
  }
  const target = scaled
    ? packedType(coding.dataType, metadata.attributes, isMissing !== undefined)
    : isMissing
      ? withMissing(coding.dataType)
      : coding.dataType;
  if (!scaled && !isMissing) {
    if (!packing) return plain;
    return { dataType: target, decode: numbers as (values: TypedValues) => TypedValues };
  }
  const Floats = target.kind === "float" && target.size === 8 ? Float64Array : Float32Array;
  if (target.kind === "int") {
    const by = BigInt(packing?.scale ?? 1);
    return {
      dataType: target,
      decode: (values) => BigInt64Array.from(numbers(values), (value) => BigInt(value) * by),
    };
  }
  return {
    dataType: target,
    decode(values) {
      const stored = numbers(values);
      const decoded = new Floats(stored.length);
      for (let i = 0; i < stored.length; i++) {
        const value = stored[i] as number | bigint;
        decoded[i] = isMissing?.(value) ? Number.NaN : Number(scaled ? scaled(value) : value);
      }
      return decoded;
    },
  };
}

/** @throws `unsupported-operation` if an attribute for packing is not a number, as in xarray. */
function assertNumbers({ path, attributes }: Parameters<typeof decoderOf>[0]): void {
  for (const name of ["scale_factor", "add_offset"]) {
    const value = attributes[name] ?? undefined;
    if (value === undefined || numberIn(value) !== undefined) continue;
    throw new ZarrflowError("unsupported-operation", `${name} is not a number`, {
      path,
      found: JSON.stringify(value),
      hint: WITHOUT_DECODING,
    });
  }
}

const WITHOUT_DECODING = "Read the stored numbers with --decode=off (in code decode: false).";

function timesOf({ path, metadata, attributes }: Parameters<typeof decoderOf>[0]): TimeCoding | undefined {
  try {
    return timeCodingOf(metadata.dataType, attributes);
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    const hint = [error.details.hint, WITHOUT_DECODING].filter(Boolean).join(" ");
    throw ZarrflowError.like({ ...error, details: { ...error.details, path, hint } });
  }
}

/** The type of scaled numbers, as in xarray: JSON attributes are doubles or whole numbers. */
function packedType(
  { kind }: RealDataType,
  { scale_factor: scale, add_offset: offset }: Readonly<Record<string, unknown>>,
  mayBeMissing: boolean,
): RealDataType {
  const isWhole = Number.isSafeInteger(numberIn(scale)) && offset === undefined;
  return isWhole && kind !== "float" && !mayBeMissing ? { kind: "int", size: 8 } : { kind: "float", size: 8 };
}

/** The smallest float type that xarray uses for numbers with missing values. */
function withMissing(dataType: RealDataType): RealDataType {
  if (dataType.kind === "float") return dataType;
  return { kind: "float", size: dataType.size <= 2 ? 4 : 8 };
}

function timeDecoder(
  { calendar, instantOf, isInNanoseconds }: TimeCoding,
  { numbers, isMissing, scaled }: NumberCoding,
): Decoder {
  const instantAt = (value: number | bigint) =>
    isMissing?.(value) || value === NAT ? undefined : instantOf(scaled ? scaled(value) : value);
  if (!COUNTED.includes(calendar.name)) {
    return {
      dataType: { kind: "string" },
      whyText: `NumPy has no datetime for the calendar \`${calendar.name}\``,
      decode: (values) =>
        Array.from(numbers(values), (value) => {
          const instant = instantAt(value);
          return instant === undefined ? null : instantText(instant, calendar);
        }),
    };
  }
  const ns = isInNanoseconds ? 1n : 1000n;
  return {
    dataType: { kind: "datetime", size: 8, unit: isInNanoseconds ? "ns" : "us", scale: 1 },
    calendar,
    decode: (values) =>
      BigInt64Array.from(numbers(values), (value) => {
        const instant = instantAt(value);
        return instant === undefined ? NAT : instant / ns;
      }),
  };
}

/** Decoder of text in which the missing value marks missing items; undefined if there is no such value. */
function textDecoder(
  { metadata, layout }: Parameters<typeof decoderOf>[0],
  isCoordinate: boolean,
): Decoder | undefined {
  const { dataType } = metadata;
  const bytes = isCoordinate ? undefined : missingValueOf(metadata, layout.zarrFormat);
  if (bytes === undefined || (dataType.kind !== "string" && dataType.kind !== "fixed-text")) return undefined;
  const missing = itemReader(dataType)(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return {
    dataType: { kind: "string" },
    decode: (values) =>
      Array.from(values as ItemValues<string>, (value) => (value === missing ? null : value)),
  };
}

/** True if an array has flags with names for its values. */
export function hasFlags({ metadata, attributes }: Pick<ZarrArray, "metadata" | "attributes">): boolean {
  const { kind } = metadata.dataType;
  return (kind === "int" || kind === "uint") && flagNamesOf(attributes) !== undefined;
}

function flagDecoder(array: Parameters<typeof decoderOf>[0], isCoordinate: boolean): Decoder {
  const { attributes, layout } = array;
  const { dataType } = array.metadata;
  const names = hasFlags(array) ? flagNamesOf(attributes) : undefined;
  const coding = numberCodingOf(array, isCoordinate);
  if (names === undefined || coding === undefined) {
    throw new ZarrflowError("invalid-option", "this array has no named flags", {
      path: layout.path,
      expected: "integers with flag_meanings, and as many flag_values or flag_masks",
      found: describeDataType(dataType),
      hint: "Omit --flags (in code flags).",
    });
  }
  const { numbers, isListed } = coding;
  return {
    dataType: { kind: "string" },
    whyText: "the names of flags are text, which has no raw bytes",
    decode: (values) => Array.from(numbers(values), (value) => (isListed?.(value) ? null : names(value))),
  };
}

export type NumberValues = ArrayLike<number | bigint> & Iterable<number | bigint>;
export type Test = (value: number | bigint) => boolean;

/** Interpretation of the stored numbers of an array according to the CF conventions. */
export interface NumberCoding {
  /** Data type of the numbers after `_Unsigned` is applied. */
  readonly dataType: RealDataType;
  /** Converts stored values to numbers with the intended sign, the input of the functions below. */
  readonly numbers: (values: TypedValues) => NumberValues;
  /** Absent if numbers are not packed. */
  readonly packing: Packing | undefined;
  /** The numbers that mark missing items, besides NaN. */
  readonly missing: readonly (number | bigint)[];
  /** True for these numbers; absent if there are no such numbers. */
  readonly isListed: Test | undefined;
  /** True for these numbers, and for those outside the valid range; absent if neither applies. */
  readonly isMissing: Test | undefined;
  /** Unpacks a number; absent if nothing scales it. */
  readonly scaled: ((value: number | bigint) => number | bigint) | undefined;
}

/**
 * Returns the coding according to the fill value, `missing_value`, `valid_range`, `scale_factor`, `add_offset` and
 * `_Unsigned`; undefined for items other than integers and floats.
 *
 * @param isCoordinate true if it contains the labels of its own dimension, which never have missing values
 */
export function numberCodingOf(
  { metadata, attributes, layout }: Pick<ZarrArray, "metadata" | "attributes" | "layout">,
  isCoordinate = false,
): NumberCoding | undefined {
  const { dataType } = metadata;
  if (!isReal(dataType)) return undefined;
  const packing = packingOf(dataType, attributes);
  const { scale, offset } = packing ?? {};
  const stored = storedNumbers(dataType, packing);
  const missing = isCoordinate ? [] : missingOf(metadata, layout.zarrFormat, stored.reread);
  const outside = outsideValidRange(attributes, (value) =>
    Number.isInteger(value) ? Number(stored.reread(value)) : value,
  );
  const isListed = listTest(missing);
  const isOutside = isCoordinate ? undefined : outside;
  return {
    ...{ dataType: stored.dataType, numbers: stored.numbers, packing, missing, isListed },
    isMissing:
      isListed && isOutside ? (value) => isListed(value) || isOutside(value) : (isListed ?? isOutside),
    scaled:
      scale === undefined && offset === undefined
        ? undefined
        : (value) => unpacked(value, { scale, offset, reread: undefined }),
  };
}

interface StoredNumbers extends Pick<NumberCoding, "dataType" | "numbers"> {
  readonly reread: (value: number | bigint) => number | bigint;
}

function storedNumbers(dataType: RealDataType, packing: Packing | undefined): StoredNumbers {
  const { reread } = packing ?? {};
  if (!reread || dataType.kind === "float") {
    return { dataType, numbers: (values) => values as NumberValues, reread: (value) => value };
  }
  const meant = { kind: reread.signed ? "int" : "uint", size: dataType.size } as const;
  const Other = typedArrayOf(meant) ?? Uint8Array;
  return {
    dataType: meant,
    numbers: (values) => {
      const { buffer, byteOffset, length } = values as Uint8Array<ArrayBuffer>;
      return new Other(buffer, byteOffset, length) as NumberValues;
    },
    reread: (value) => rereadInteger(value, reread),
  };
}

function listTest(missing: readonly (number | bigint)[]): Test | undefined {
  const [only] = missing;
  if (missing.length > 1) return (value) => missing.includes(value);
  return only === undefined ? undefined : (value) => value === only;
}

type Reread = (value: number | bigint) => number | bigint;

/**
 * Returns the numbers that mark missing items, except NaN, as typed arrays contain them: the missing value of the
 * format, and those of the attribute `missing_value`.
 */
export function missingOf(metadata: ArrayMetadata, format: ZarrFormat, reread: Reread): (number | bigint)[] {
  const { dataType, attributes } = metadata;
  const kind = numberKindOf(dataType);
  if (kind === undefined) return [];
  const own = missingValueOf(metadata, format);
  // xarray treats each number of a list as missing
  const listed = own === undefined && isVariableIn(metadata, format) ? statedMissing(attributes) : undefined;
  const stated: JsonValue[] = [listed ?? [], attributes.missing_value ?? []].flat();
  const found = [own, ...stated.map((json) => parseMissing(wholeIn(json, dataType), dataType))];
  const values = found.flatMap((bytes) => (bytes ? [reread(readNumber(bytes, kind))] : []));
  return [...new Set(values)].filter((value) => !Number.isNaN(value));
}

/** Converts a number that other writers give as a float, though items are integers: `-999.0`. */
function wholeIn(json: JsonValue, { kind }: DataType): JsonValue {
  const number = typeof json === "object" && json !== null ? Number(json) : Number.NaN;
  return kind !== "float" && Number.isSafeInteger(number) ? number : json;
}
