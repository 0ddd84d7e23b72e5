import { invalid, isObject } from "../util/check-options.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { fromPlain } from "../util/json-plain.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { DataType, Endian } from "./data-type.ts";
import { hasByteOrder } from "./element-order.ts";
import { parseNumpyType } from "./v2/data-type.ts";
import { parseV3DataType } from "./v3/data-type.ts";

/**
 * A data type as people write it: `float32`, `datetime64[ns]`, `S12`, `U5`, `r24`, `string`, `binary`; NumPy's
 * `<f4`, `>i2`, `|S12` and lists of fields; the object that Zarr v3 has for it; or the type itself.
 */
export type DataTypeOption = string | readonly unknown[] | { readonly name: string } | DataType;

/** A data type, and the byte order in which its items are to be stored; undefined where order means nothing. */
export interface StoredDataType {
  readonly dataType: DataType;
  readonly endian: Endian | undefined;
}

const NAMES = [
  ...["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
  ...["float16", "float32", "float64", "complex64", "complex128"],
  ...["datetime64[ns]", "timedelta64[ns]", "string", "binary"],
];

/** @throws `unsupported-data-type` with the nearest name, `invalid-option`. */
export function parseDataTypeOption(option: DataTypeOption): StoredDataType {
  if (typeof option === "string") return parseWords(option.trim());
  if (!isObject(option))
    throw invalid("this is not a data type", "a name such as float32, or an object", option);
  if (isType(option)) return inLittleEndian(option);
  if (Array.isArray(option)) return parseNumpyType(fromPlain(option), "/dataType");
  return inLittleEndian(parseV3DataType(fromPlain(option), "/dataType").dataType);
}

function isType(option: Exclude<DataTypeOption, string>): option is DataType {
  return "kind" in option;
}

function parseWords(words: string): StoredDataType {
  try {
    const [, time, unit] = /^(datetime|timedelta)64\[(.*)\]$/.exec(words) ?? [];
    if (time) return parseNumpyType(`<${time === "datetime" ? "M" : "m"}8[${unit}]`, "/dataType");
    if (/^[SUV][0-9]+$/.test(words)) return parseNumpyType(`<${words}`, "/dataType");
    if (/^[<>|]/.test(words) && words !== "|O") return parseNumpyType(words, "/dataType");
    return inLittleEndian(parseV3DataType(words, "/dataType").dataType);
  } catch (error) {
    if (!isZarrflowError(error, "unsupported-data-type") && !isZarrflowError(error, "invalid-metadata")) {
      throw error;
    }
    const near = nearestName(words, NAMES);
    throw new ZarrflowError("unsupported-data-type", "this is not a data type that an array can have", {
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
