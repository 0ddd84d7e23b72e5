import { type JsonValue, pointerTo } from "../../util/json-value.ts";
import {
  assertInteger,
  assertList,
  assertObject,
  assertString,
  invalidMetadata,
  isJsonObject,
  refusal,
  repeatedName,
  required,
} from "../assert-json.ts";
import {
  assertItemSize,
  type DataType,
  type Field,
  type FixedDataType,
  isFixed,
  MAX_TIME_SCALE,
  normalTimeUnit,
  structSize,
} from "../data-type.ts";
import { assertNoOthers, type Extension, parseExtension, writeExtension } from "../extension.ts";
import { NUMBER_KINDS, numberKindOf } from "../number-kinds.ts";

/** Bytes per offset in ZEP 7's layout. */
export type OffsetSize = 4 | 8;

/** A v3 data type, with properties of its v3 name that `DataType` lacks. */
export interface V3DataType {
  readonly dataType: DataType;
  /** Offset size of variable data without a vlen codec; "none" if a vlen codec is required. */
  readonly offsetSize?: OffsetSize | "none";
  /** True if its document allows readers to ignore it, which ZEP 7's layout does not support. */
  readonly mayBeIgnored?: boolean;
  /** True for a structured type in its old form, whose `bytes` codec may omit the byte order. */
  readonly oldStruct?: boolean;
}

const PLAIN = new Map(
  NUMBER_KINDS.flatMap(({ name, aliases = [], type }) =>
    [name, ...aliases].map((one): [string, FixedDataType] => [one, type]),
  ),
);

const VARIABLE = new Map<string, V3DataType>([
  ["string", { dataType: { kind: "string" }, offsetSize: 4 }],
  ["LargeString", { dataType: { kind: "string" }, offsetSize: 8 }],
  ["large_string", { dataType: { kind: "string" }, offsetSize: 8 }],
  ["binary", { dataType: { kind: "binary" }, offsetSize: 4 }],
  ["LargeBinary", { dataType: { kind: "binary" }, offsetSize: 8 }],
  ["large_binary", { dataType: { kind: "binary" }, offsetSize: 8 }],
  ["bytes", { dataType: { kind: "binary" }, offsetSize: "none" }],
  ["variable_length_bytes", { dataType: { kind: "binary" }, offsetSize: "none" }],
]);

/** @throws `unsupported-data-type`, `unsupported-extension`, `invalid-metadata`, `resource-limit`. */
export function parseV3DataType(json: JsonValue, pointer: string): V3DataType {
  const extension = parseExtension(json, pointer);
  const variable = VARIABLE.get(extension.name);
  if (variable !== undefined) {
    assertVariable(json, extension);
    return extension.mustUnderstand ? variable : { ...variable, mayBeIgnored: true };
  }
  const plain = PLAIN.get(extension.name);
  if (plain !== undefined) {
    assertNoOthers(json, extension);
    return { dataType: plain };
  }
  switch (extension.name) {
    case "struct":
    case "structured":
      assertNoOthers(json, extension, ["fields"]);
      return parseStruct(extension);
    case "numpy.datetime64":
    case "numpy.timedelta64":
      assertNoOthers(json, extension, ["unit", "scale_factor"]);
      return { dataType: parseTime(extension) };
    case "fixed_length_utf32":
    case "null_terminated_bytes":
    case "raw_bytes":
      assertNoOthers(json, extension, ["length_bytes"]);
      return { dataType: parseSized(extension) };
  }
  const bits = Number(/^r([1-9][0-9]*)$/.exec(extension.name)?.[1]);
  if (bits % 8 !== 0) throw refusal("unsupported-data-type", pointer, "the data type is not known", json);
  assertNoOthers(json, extension);
  assertItemSize(bits / 8, pointer);
  return { dataType: { kind: "raw", size: bits / 8 } };
}

/** Checks that a variable type has no other members. ZEP 7 allows one, which has no effect here. */
function assertVariable(json: JsonValue, { name, configuration, others, pointer }: Extension): void {
  const unknown = others.filter(
    (other) =>
      !(name === "string" && other === "fallback" && isJsonObject(json) && json.fallback === "binary"),
  );
  if (unknown.length === 0 && Object.keys(configuration).length === 0) return;
  throw refusal("unsupported-data-type", pointer, `\`${name}\` takes no other members`, json);
}

function parseTime({ name, configuration, pointer }: Extension): FixedDataType {
  const at = pointerTo(pointer, "configuration");
  const stated = assertString(required(configuration, "unit", at), pointerTo(at, "unit"));
  const unit = stated === "generic" ? stated : normalTimeUnit(stated);
  if (unit === undefined) throw invalidMetadata(pointerTo(at, "unit"), "not a unit of time", stated);
  const scaleAt = pointerTo(at, "scale_factor");
  const scale = assertInteger(required(configuration, "scale_factor", at), 1, scaleAt);
  if (scale > MAX_TIME_SCALE) throw invalidMetadata(scaleAt, "must be less than 2^31", scale);
  return { kind: name === "numpy.datetime64" ? "datetime" : "timedelta", size: 8, unit, scale };
}

function parseSized({ name, configuration, pointer }: Extension): FixedDataType {
  const at = pointerTo(pointer, "configuration");
  const sizeAt = pointerTo(at, "length_bytes");
  const size = assertInteger(required(configuration, "length_bytes", at), 1, sizeAt);
  assertItemSize(size, sizeAt);
  if (name === "null_terminated_bytes") return { kind: "fixed-bytes", size };
  if (name === "raw_bytes") return { kind: "raw", size };
  if (size % 4 !== 0) throw invalidMetadata(sizeAt, "must be a multiple of 4", size);
  return { kind: "fixed-text", size };
}

function parseStruct({ configuration, pointer }: Extension): V3DataType {
  const at = pointerTo(pointer, "configuration");
  const fieldsAt = pointerTo(at, "fields");
  const list = assertList(required(configuration, "fields", at), fieldsAt);
  if (list.length === 0) throw invalidMetadata(fieldsAt, "a structured type needs fields", list);
  const fields = list.map((entry, i) => parseField(entry, pointerTo(fieldsAt, i)));
  const names = fields.map(({ name }) => name);
  const twice = repeatedName(names);
  if (twice !== undefined) throw invalidMetadata(fieldsAt, "a structured type names a field twice", twice);
  return {
    dataType: { kind: "struct", size: structSize(fields, fieldsAt), fields },
    oldStruct: list.some(Array.isArray),
  };
}

/** Reads a field from an object, or from a pair in the old form. */
function parseField(entry: JsonValue, pointer: string): Field {
  const isPair = Array.isArray(entry);
  if (isPair && entry.length !== 2) throw invalidMetadata(pointer, "must be a name and a type", entry);
  const object = isPair ? {} : assertObject(entry, pointer);
  const [nameAt, typeAt] = (isPair ? [0, 1] : ["name", "data_type"]).map((token) =>
    pointerTo(pointer, token),
  );
  const name = isPair ? (entry[0] ?? null) : required(object, "name", pointer);
  const type = isPair ? (entry[1] ?? null) : required(object, "data_type", pointer);
  if (typeof name !== "string" || name === "")
    throw invalidMetadata(nameAt ?? pointer, "must be a name", name);
  const { dataType } = parseV3DataType(type, typeAt ?? pointer);
  if (!isFixed(dataType)) {
    throw refusal("unsupported-data-type", typeAt ?? pointer, "a field needs a type of fixed size", type);
  }
  return { name, dataType };
}

/** Writes the v3 form of a type; `offsetSize` selects ZEP 7's types instead of the registered ones. */
export function writeV3DataType(dataType: DataType, offsetSize?: OffsetSize): JsonValue {
  switch (dataType.kind) {
    case "datetime":
    case "timedelta":
      return writeExtension(`numpy.${numberKindOf(dataType).name}`, {
        unit: dataType.unit,
        scale_factor: dataType.scale,
      });
    case "fixed-text":
      return writeExtension("fixed_length_utf32", { length_bytes: dataType.size });
    case "fixed-bytes":
      return writeExtension("null_terminated_bytes", { length_bytes: dataType.size });
    case "raw":
      return writeExtension("raw_bytes", { length_bytes: dataType.size });
    case "struct":
      return writeExtension("struct", {
        fields: dataType.fields.map(({ name, dataType: type }) => ({
          name,
          data_type: writeV3DataType(type),
        })),
      });
    case "string":
      return offsetSize === undefined ? "string" : { name: offsetSize === 8 ? "LargeString" : "string" };
    case "binary":
      return offsetSize === undefined ? "bytes" : { name: offsetSize === 8 ? "LargeBinary" : "binary" };
    case "object":
      return "object";
    default:
      return numberKindOf(dataType).name;
  }
}

/** The core type of this name. */
export function plainV3Type(name: string): FixedDataType | undefined {
  return PLAIN.get(name);
}
