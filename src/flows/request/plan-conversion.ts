import { fillBytes } from "../../hierarchy/create/metadata.ts";
import { ZarrArray } from "../../hierarchy/node.ts";
import type { OpenSliceOptions } from "../../hierarchy/slice.ts";
import type { ArrayMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { packingOf } from "../../meta/conventions/cf/packing.ts";
import { FILL_VALUE_ATTRIBUTE, parseMissing, writeMissing } from "../../meta/conventions/missing-values.ts";
import { sameDataType } from "../../meta/data-type.ts";
import { describeDataType } from "../../meta/data-type-name.ts";
import { parseDataTypeOption } from "../../meta/data-type-option.ts";
import { otherNames } from "../../meta/documents.ts";
import {
  FLOAT64,
  integerRange,
  isNumber,
  isReal,
  type NumberDataType,
  numberBytes,
  numberKindOf,
  readNumber,
} from "../../meta/number-kinds.ts";
import { filtersOfValues, retypedCodecs } from "../../meta/recode.ts";
import type { PlannedConversion } from "../../plan/plan.ts";
import { decoderOf, numberCodingOf } from "../../run/slabs/decoder.ts";
import { convertedFill, keepsMissing } from "../../run/values/convert-values.ts";
import { conversionOf, convertedMetadata, keepFunction } from "../../run/values/converted-array.ts";
import { type LoadedMap, loadMap } from "../../run/values/value-map.ts";
import type { Selection } from "../../streams/selection.ts";
import { toBase64 } from "../../util/bytes.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { fromPlain, type JsonObject, type JsonValue } from "../../util/json-value.ts";
import { type ArrayConversion, type AskedValues, valuesAsked } from "./changes.ts";
import type { ArrayChanges, PackedType, PackOption } from "./flow-options.ts";

export interface PlanConversionOptions extends RangeOptions {
  /** Metadata of the array in the target's format. */
  readonly inFormat: ArrayMetadata;
  /** The target's format. */
  readonly to: ZarrFormat;
}

/**
 * Plans the conversion of an array's values; undefined if nothing changes.
 *
 * @throws `invalid-option` for changes that its data type does not allow; `unsupported-operation`; as `loadMap`.
 */
export async function planConversion(
  array: ZarrArray,
  asked: AskedValues,
  options: PlanConversionOptions,
): Promise<ArrayConversion | undefined> {
  const { attributes, isNamed: _, overflow: __, ...ofValues } = asked;
  const describe = (given: JsonObject) => withAttributes(given, attributes);
  const onlyDescribed: ArrayConversion | undefined = attributes && {
    convert: (whole) => ({ ...whole, attributes: describe(whole.attributes) }),
  };
  if (Object.values(ofValues).every((value) => value === undefined)) return onlyDescribed;
  const from = numbersOf(array);
  const meant = asked.unpack || asked.pack !== undefined ? meantType(array, asked) : undefined;
  const map = asked.map === undefined ? undefined : await loadMap(asked.map);
  const before = meant ?? from;
  const to = newType(asked, before);
  assertCast(array.path, before, to, map);
  const begun: PlannedConversion = {
    dataType: describeDataType(to),
    fillValue: null,
    ...(meant && { unpack: true }),
    ...(map && { map: map.planned }),
    ...(asked.overflow === "clamp" && { overflow: "clamp" }),
  };
  const endian = asked.dataType && parseDataTypeOption(asked.dataType).endian;
  const isRetyped = !sameDataType(from, to) || endian !== undefined;
  const isSame = !isRetyped && !map && !meant && asked.pack === undefined;
  if (isSame && asked.fillValue === undefined) return onlyDescribed;
  const fill = newFill(array.path, options.inFormat, asked, { from, to, begun });
  const pack = asked.pack && (await packingFor(array, asked.pack, begun, map, options));
  const mayMiss = before.kind === "float" || (numberCodingOf(array)?.missing.length ?? 0) > 0;
  const replaceMissing = asked.fillValue !== undefined && asked.pack === undefined && !map && mayMiss;
  const planned: PlannedConversion = {
    ...begun,
    fillValue: fill && toBase64(fill),
    ...(replaceMissing && { replaceMissing }),
    ...(pack && { pack }),
  };
  if (map) keepFunction(planned, map.map);
  const conversion = conversionOf(array, planned, map?.map);
  return {
    reading: {
      planned,
      metadata: convertedMetadata(array.metadata, planned, conversion),
      isMissingWritten: !keepsMissing(conversion),
    },
    filtersLeftOut: isRetyped ? filtersOfValues(options.inFormat.codecs) : [],
    convert: (whole) => ({
      ...whole,
      dataType: to,
      fillValue: { bytes: fill },
      codecs: isRetyped ? retypedCodecs(whole.codecs, to, endian) : whole.codecs,
      attributes: describe(newAttributes(whole, planned, { to, fill, format: options.to, path: array.path })),
    }),
  };
}

/** @throws `invalid-option` for an array of items other than numbers and times */
function numbersOf({ path, metadata: { dataType } }: ZarrArray): NumberDataType {
  if (isNumber(dataType)) return dataType;
  throw new ZarrflowError("invalid-option", "only numbers and times can be converted", {
    path,
    found: describeDataType(dataType),
  });
}

/**
 * Data type of the decoded values; undefined if they equal the stored ones.
 *
 * @throws `invalid-option` if decoded values are not numbers, and for a named array that is not packed
 */
function meantType(array: ZarrArray, { isNamed, pack }: AskedValues): NumberDataType | undefined {
  const { path, metadata } = array;
  const { dataType, decode } = decoderOf(array, { decode: true });
  if (decode === undefined) {
    if (!isNamed || pack !== undefined) return undefined;
    throw new ZarrflowError("invalid-option", "the values are not packed, and none are missing", {
      path,
      hint: "Omit --unpack (in code unpack) for this array.",
    });
  }
  if (isReal(dataType)) return dataType;
  if (!isNamed) return undefined;
  throw new ZarrflowError("invalid-option", "the values do not represent numbers", {
    path,
    expected: "numbers",
    found: dataType.kind === "string" ? "text" : describeDataType(dataType),
    hint: `Its type is ${describeDataType(metadata.dataType)}: use only dataType to change it.`,
  });
}

/** @throws `invalid-option` for a type that does not contain numbers, and for a type in addition to `pack` */
function newType({ dataType, pack }: AskedValues, before: NumberDataType): NumberDataType {
  if (pack !== undefined) {
    if (dataType !== undefined) {
      throw new ZarrflowError("invalid-option", "`pack` cannot be combined with `dataType`", {
        hint: "Omit `dataType`: `pack` sets the type.",
      });
    }
    return packedType(pack);
  }
  if (dataType === undefined) return before;
  const { dataType: to } = parseDataTypeOption(dataType);
  if (isNumber(to)) return to;
  throw new ZarrflowError("invalid-option", "values can be converted only to numbers or times", {
    found: describeDataType(to),
  });
}

/** Type that values are packed into. @throws `invalid-option` */
function packedType(pack: PackOption): PackedNumbers {
  const name = typeof pack === "string" ? pack : pack.dataType;
  const type = PACKED_TYPES[name];
  if (type) return type;
  throw new ZarrflowError("invalid-option", "values cannot be packed into this type", {
    expected: `one of ${Object.keys(PACKED_TYPES).join(", ")}`,
    found: String(name),
  });
}

interface PackedNumbers {
  readonly kind: "int" | "uint";
  readonly size: 1 | 2 | 4;
}

const PACKED_TYPES: Readonly<Record<PackedType, PackedNumbers>> = {
  int8: { kind: "int", size: 1 },
  int16: { kind: "int", size: 2 },
  int32: { kind: "int", size: 4 },
  uint8: { kind: "uint", size: 1 },
  uint16: { kind: "uint", size: 2 },
  uint32: { kind: "uint", size: 4 },
};

/** @throws `invalid-option` for a conversion that only a map can do */
function assertCast(
  path: string,
  from: NumberDataType,
  to: NumberDataType,
  map: LoadedMap | undefined,
): void {
  const isTime = ({ kind }: NumberDataType) => kind === "datetime" || kind === "timedelta";
  const isSame = sameDataType(from, to);
  const losesPart = from.kind === "complex" && to.kind !== "complex";
  if (map || isSame || !(losesPart || isTime(from) || isTime(to))) return;
  throw new ZarrflowError(
    "invalid-option",
    `${describeDataType(from)} cannot be cast to ${describeDataType(to)}`,
    {
      path,
      hint: "Compute the new values with `map`.",
    },
  );
}

/** The new fill value. @throws `invalid-option` if the new type cannot represent the old one */
function newFill(
  path: string,
  { fillValue: { bytes } }: ArrayMetadata,
  { fillValue, pack }: AskedValues,
  {
    from,
    to,
    begun,
  }: { readonly from: NumberDataType; readonly to: NumberDataType; readonly begun: PlannedConversion },
): Uint8Array | null {
  if (fillValue !== undefined && fillValue !== null) return statedFill(path, fillValue, to);
  if (pack !== undefined) return extremeOf(packedType(pack));
  if (begun.unpack && to.kind === "float") return numberBytes(Number.NaN, numberKindOf(to));
  if (bytes === null) return null;
  const { overflow = "error" } = begun;
  const converted = convertedFill({ from, to, fromFill: bytes, toFill: null, overflow });
  if (converted instanceof Uint8Array) return converted;
  const type = describeDataType(to);
  throw new ZarrflowError("invalid-option", `the fill value cannot be stored as ${type}`, {
    path,
    expected: type,
    found: `${converted.value}`,
    hint: "Set a new one with `fillValue` (--fill-value).",
  });
}

function statedFill(
  path: string,
  fillValue: NonNullable<AskedValues["fillValue"]>,
  to: NumberDataType,
): Uint8Array {
  try {
    return fillBytes(fillValue, to);
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    throw new ZarrflowError(
      "invalid-option",
      `the new fill value cannot be stored as ${describeDataType(to)}`,
      {
        path,
        expected: describeDataType(to),
        found: String(fillValue),
      },
    );
  }
}

/** Value for missing items in a packed type: the smallest, or the largest of an unsigned type. */
function extremeOf(type: PackedNumbers): Uint8Array {
  const kind = numberKindOf(type);
  const { least, most } = integerRange(kind);
  return numberBytes(type.kind === "int" ? least : most, kind);
}

/** Scale and offset of packed values: as given, or so that all values fit. */
async function packingFor(
  array: ZarrArray,
  pack: PackOption,
  begun: PlannedConversion,
  map: LoadedMap | undefined,
  options: PlanConversionOptions,
): Promise<NonNullable<PlannedConversion["pack"]>> {
  if (typeof pack === "object") {
    const { scale, offset = 0 } = pack;
    if (Number.isFinite(scale) && scale !== 0 && Number.isFinite(offset)) return { scale, offset };
    throw new ZarrflowError(
      "invalid-option",
      "`scale` must be a number other than 0, and `offset` a number",
      {
        path: array.path,
        found: [scale, offset]
          .map((value) => (typeof value === "number" ? `${value}` : JSON.stringify(value)))
          .join(", "),
      },
    );
  }
  const doubles: PlannedConversion = {
    dataType: "float64",
    fillValue: toBase64(numberBytes(Number.NaN, FLOAT64)),
    ...(begun.unpack && { unpack: true }),
    ...(begun.map && { map: begun.map }),
  };
  const { store, spec, layout } = array;
  const metadata = convertedMetadata(array.metadata, doubles, conversionOf(array, doubles, map?.map));
  const { selection, maxMemory, signal } = options;
  const converted = new ZarrArray({ store, spec, layout, metadata });
  const range = await valueRange(converted, { selection, maxMemory, signal });
  const [least, largest] = range ?? [0, 0];
  // One value of the type is reserved for missing items.
  const { kind, size } = PACKED_TYPES[pack];
  const steps = 2 ** (8 * size) - 2;
  const scale = (largest - least) / steps || 1;
  return { scale, offset: kind === "int" ? least + (scale * steps) / 2 : least };
}

interface NewArrayValues {
  readonly to: NumberDataType;
  readonly fill: Uint8Array | null;
  readonly format: ZarrFormat;
  readonly path: string;
}

/** Replaces attributes by the given ones; null removes one. */
function withAttributes(attributes: JsonObject, given: AskedValues["attributes"] = {}): JsonObject {
  const all = { ...attributes, ...(fromPlain(given) as JsonObject) };
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== null || !Object.hasOwn(given, name)),
  );
}

/** Attributes that describe packing. */
const PACKING = ["scale_factor", "add_offset", "_Unsigned"];
/** Attributes that contain stored values. */
const STORED = ["missing_value", "valid_min", "valid_max", "valid_range", FILL_VALUE_ATTRIBUTE];

/** Attributes of an array for its new values. @throws `unsupported-operation`, `invalid-option` */
function newAttributes(
  { attributes, dataType: from }: ArrayMetadata,
  { unpack, pack, replaceMissing, map }: PlannedConversion,
  { to, fill, format, path }: NewArrayValues,
): JsonObject {
  const missing = fill && writesMissing(format) ? writeMissing(fill, to) : undefined;
  const marked: JsonObject = missing === undefined ? {} : { [FILL_VALUE_ATTRIBUTE]: missing };
  if (pack) {
    const { scale, offset } = pack;
    return {
      ...otherNames(attributes, [...PACKING, ...STORED]),
      scale_factor: scale,
      add_offset: offset,
      ...marked,
    };
  }
  if (unpack) return { ...otherNames(attributes, [...PACKING, ...STORED]), ...(replaceMissing && marked) };
  if (packingOf(from, attributes)?.reread && !map) {
    throw new ZarrflowError("unsupported-operation", "`_Unsigned` changes the sign of these integers", {
      path,
      hint: "Convert the decoded values with --unpack (in code unpack: true).",
    });
  }
  const recast = recastAttributes(attributes, from, to, format);
  return replaceMissing
    ? { ...otherNames(recast, ["missing_value", FILL_VALUE_ATTRIBUTE]), ...marked }
    : recast;
}

/**
 * Casts attributes that contain stored values, which readers compare with the new ones. Removes missing values that the
 * new type cannot represent.
 */
function recastAttributes(
  attributes: JsonObject,
  from: ArrayMetadata["dataType"],
  to: NumberDataType,
  format: ZarrFormat,
): JsonObject {
  if (sameDataType(from, to)) return attributes;
  const recast = (name: string, json: JsonValue): JsonValue | undefined => {
    const bytes = parseMissing(json, from);
    const value = bytes && castMissing(bytes, from, to);
    if (value === undefined) return name.startsWith("valid_") ? json : undefined;
    if (name === FILL_VALUE_ATTRIBUTE && writesMissing(format)) return writeMissing(value, to);
    const number = to.kind === "complex" ? Number.NaN : readNumber(value, numberKindOf(to));
    return typeof number === "bigint" || Number.isFinite(number) ? fromPlain(number) : json;
  };
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, json]): [string, JsonValue][] => {
      if (!STORED.includes(name)) return [[name, json]];
      // The missing value of a complex array is a pair.
      const isList = Array.isArray(json) && name !== FILL_VALUE_ATTRIBUTE;
      const values = (isList ? json : [json])
        .map((item) => recast(name, item))
        .filter((item) => item !== undefined);
      const [value] = values;
      return value === undefined ? [] : [[name, isList ? values : value]];
    }),
  );
}

/** True if a format states the missing value in an attribute, rather than in the fill value. */
function writesMissing(format: ZarrFormat): boolean {
  return format === "v3";
}

/** Casts a missing value to another type; undefined if the type cannot represent it, so that no item has it. */
function castMissing(bytes: Uint8Array, from: ArrayMetadata["dataType"], to: NumberDataType) {
  if (!isNumber(from)) return undefined;
  const fill = convertedFill({ from, to, fromFill: bytes, toFill: null, overflow: "error" });
  return fill instanceof Uint8Array ? fill : undefined;
}

/** Plans the conversions of arrays, by path. @throws as `valuesAsked`, `planConversion` */
export async function planConversions(
  option: ArrayChanges,
  opened: Parameters<typeof valuesAsked>[2],
  arrays: readonly { readonly array: ZarrArray; readonly inFormat: ArrayMetadata }[],
  {
    selections,
    ...options
  }: Omit<PlanConversionOptions, "inFormat" | "selection"> & {
    readonly selections: ReadonlyMap<string, Selection>;
  },
): Promise<ReadonlyMap<string, ArrayConversion>> {
  const named = arrays.map(({ array: { path }, inFormat }) => ({ path, metadata: inFormat }));
  const asked = valuesAsked(option, named, opened);
  const planned = new Map<string, ArrayConversion>();
  for (const { array, inFormat } of arrays) {
    const { path } = array;
    const changes = asked.get(path);
    const selection = selections.get(path);
    const conversion = changes && (await planConversion(array, changes, { ...options, inFormat, selection }));
    if (conversion) planned.set(path, conversion);
  }
  return planned;
}

export interface RangeOptions extends Pick<OpenSliceOptions, "signal" | "maxMemory"> {
  /** Part of the array to read; by default everything. */
  readonly selection?: Selection | undefined;
}

/** Smallest and largest value of an array of floats, ignoring NaN; undefined if there are no others. */
export async function valueRange(
  array: ZarrArray,
  { selection, ...options }: RangeOptions,
): Promise<readonly [least: number, largest: number] | undefined> {
  let least = Number.POSITIVE_INFINITY;
  let largest = Number.NEGATIVE_INFINITY;
  for await (const { data } of array.slice(rangesOf(selection), options).chunks()) {
    const values = data as ArrayLike<number>;
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as number;
      if (value < least) least = value;
      if (value > largest) largest = value;
    }
  }
  if (least > largest) return undefined;
  if (Number.isFinite(least) && Number.isFinite(largest)) return [least, largest];
  throw new ZarrflowError("invalid-option", "infinite values cannot be packed", {
    path: array.path,
    hint: 'Set scale and offset and `overflow: "clamp"`, or replace infinite values with `map`.',
  });
}

/** Ranges equal to a selection; the whole array for a cyclic selection, which ranges cannot express. */
function rangesOf(selection: Selection | undefined): (readonly [number, number, number])[] {
  if (selection === undefined || selection.cycle) return [];
  const { start, step, shape } = selection;
  return start.map((from, d) => [
    from,
    from + (step[d] ?? 1) * Math.max(0, (shape[d] ?? 0) - 1) + 1,
    step[d] ?? 1,
  ]);
}
