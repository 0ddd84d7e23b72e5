import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { fromPlain } from "../util/json-value.ts";
import { nearestName } from "../util/names.ts";
import { invalidOption, isObject } from "../util/options.ts";
import { type DataType, type Endian, hasByteOrder } from "./data-type.ts";
import type { DataTypeName, TimeName } from "./data-type-name.ts";
import { NUMBER_KINDS, type NumberAliases, type NumberArrays, type NumpyNames } from "./number-kinds.ts";
import { parseNumpyType } from "./v2/data-type.ts";
import { parseV3DataType } from "./v3/data-type.ts";

/** Other names of types in Zarr v3. */
interface OtherNames extends NumberAliases {
  readonly LargeString: "string";
  readonly large_string: "string";
  readonly bytes: "binary";
  readonly variable_length_bytes: "binary";
  readonly LargeBinary: "binary";
  readonly large_binary: "binary";
}

type TimeUnit = "Y" | "M" | "W" | "D" | "h" | "m" | "s" | "ms" | "us" | "ns" | "ps" | "fs" | "as";
type TimeStep = TimeUnit | `${number}${TimeUnit}`;

/**
 * The name of a data type: `float32`, `datetime64[ns]`, `string`, `binary`, `U5` (text of 5 characters), `S12`
 * (bytes, padded with zeros), `r24` (24 bits); or NumPy's notation with the stored byte order: `<f4`, `>i2`, `|S12`,
 * `<M8[ns]`.
 */
export type DataTypeText =
  | keyof NumberArrays
  | keyof OtherNames
  | "string"
  | "binary"
  | "object"
  | `${"datetime64" | "timedelta64"}[${TimeStep}]`
  | `${"U" | "S" | "V" | "r"}${number}`
  | `${"<" | ">"}${keyof NumpyNames | `U${number}` | `${"M8" | "m8"}[${TimeStep}]`}`
  | `|${"b1" | "i1" | "u1"}`
  | `${"<" | ">" | "|"}${"S" | "V"}${number}`;

/**
 * A data type as users write it: its name; NumPy's list of fields; the object of Zarr v3, such as
 * `{ name: "numpy.datetime64", configuration: { unit: "ns", scale_factor: 1 } }`; or the type itself, such as
 * `array.metadata.dataType`.
 */
export type DataTypeOption =
  | DataTypeText
  | readonly unknown[]
  | { readonly name: string; readonly configuration?: object | undefined }
  | DataType;

/** The name of a requested data type, as in an array's `dataType`; `DataTypeName` if it cannot be inferred. */
export type NameOfOption<Option extends DataTypeOption> = Option extends keyof NumberArrays | TimeName
  ? Option
  : Option extends "string" | "binary" | "object" | `${"U" | "S" | "r"}${number}`
    ? Option
    : Option extends keyof OtherNames
      ? OtherNames[Option]
      : Option extends `${"<" | ">" | "|"}${infer Code}`
        ? NameOfCode<Code>
        : Option extends `V${number}`
          ? `r${number}`
          : DataTypeName;

type NameOfCode<Code extends string> = Code extends keyof NumpyNames
  ? NumpyNames[Code]
  : Code extends `${"U" | "S"}${number}`
    ? Code
    : Code extends `M8[${infer Step}]`
      ? `datetime64[${Step}]`
      : Code extends `m8[${infer Step}]`
        ? `timedelta64[${Step}]`
        : `r${number}`;

/** A data type and the stored byte order of its items; undefined if the type has no byte order. */
export interface StoredDataType {
  readonly dataType: DataType;
  readonly endian: Endian | undefined;
}

const NAMES = [
  ...NUMBER_KINDS.map(({ name }) => name),
  ...["datetime64[ns]", "timedelta64[ns]", "string", "binary"],
];

/** @throws `unsupported-data-type` with the nearest name, `invalid-option`. */
export function parseDataTypeOption(option: DataTypeOption | string): StoredDataType {
  if (typeof option === "string") return parseWords(option.trim());
  if (!isObject(option))
    throw invalidOption("this is not a data type", "a name such as float32, or an object", option);
  if (isType(option)) return inLittleEndian(option);
  if (Array.isArray(option)) return parseNumpyType(fromPlain(option), "/dataType");
  return inLittleEndian(parseV3DataType(fromPlain(option), "/dataType").dataType);
}

function isType(option: Exclude<DataTypeOption | string, string>): option is DataType {
  return "kind" in option;
}

function parseWords(words: string): StoredDataType {
  try {
    const [, time, unit] = /^(datetime|timedelta)64\[(.*)\]$/.exec(words) ?? [];
    if (time) return parseNumpyType(`<${time === "datetime" ? "M" : "m"}8[${unit}]`, "/dataType");
    if (/^[SUV][0-9]+$/.test(words)) return parseNumpyType(`<${words}`, "/dataType");
    if (/^[<>|]/.test(words) && words !== "|O") return parseNumpyType(words, "/dataType");
    if (words === "object") return inLittleEndian({ kind: "object" });
    return inLittleEndian(parseV3DataType(words, "/dataType").dataType);
  } catch (error) {
    if (!isZarrflowError(error, "unsupported-data-type") && !isZarrflowError(error, "invalid-metadata")) {
      throw error;
    }
    const near = nearestName(words, NAMES);
    throw new ZarrflowError("unsupported-data-type", "arrays cannot have this data type", {
      value: words,
      hint: near
        ? `Did you mean \`${near}\`?`
        : `Use ${NAMES.join(", ")}, S12, U5, or a type string of NumPy.`,
    });
  }
}

function inLittleEndian(dataType: DataType): StoredDataType {
  return { dataType, endian: "size" in dataType && hasByteOrder(dataType) ? "little" : undefined };
}
