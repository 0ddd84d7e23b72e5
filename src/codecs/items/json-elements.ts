import type { FixedDataType } from "../../meta/data-type.ts";
import {
  parseFloatFill,
  parseIntegerFill,
  parseTextFill,
  readText,
  writeIntegerFill,
} from "../../meta/fill-values.ts";
import { readFloat } from "../../meta/number-kinds.ts";
import { JsonNumber, type JsonValue } from "../../util/json-value.ts";
import { formatFloat } from "../../util/json-write.ts";
import { corrupt } from "../limits.ts";

/** Converts elements of a type, little-endian, to the JSON values that Python writes for them, and back. */
export interface JsonElements {
  toJson(bytes: Uint8Array): JsonValue;
  /** @throws `invalid-metadata`, `corrupt-chunk` for a value that is not of the type. */
  toBytes(json: JsonValue): Uint8Array;
  /** The most characters of a value. */
  readonly maxText: number;
}

/** The converter for elements of a type; undefined for types without JSON values. */
export function jsonElements(dataType: FixedDataType): JsonElements | undefined {
  switch (dataType.kind) {
    case "bool":
      return { toJson: ([byte]) => byte !== 0, toBytes: boolBytes, maxText: 5 };
    case "int":
    case "uint": {
      const type = { size: dataType.size, signed: dataType.kind === "int" };
      return {
        toJson: (bytes) => writeIntegerFill(bytes, type.signed),
        toBytes: (json) => parseIntegerFill(json, type, "", true),
        maxText: 20,
      };
    }
    case "float":
      return {
        toJson: (bytes) => floatJson(readFloat(bytes)),
        toBytes: (json) => parseFloatFill(json, dataType.size, ""),
        maxText: 25,
      };
    case "fixed-text":
      return {
        toJson: (bytes) => readText(bytes) ?? "",
        toBytes: (json) => textBytes(json, dataType.size),
        maxText: 2 + 3 * dataType.size,
      };
    default:
      return undefined;
  }
}

/** Keeps a float a float: whole numbers get a decimal point, as Python writes them. */
export function floatJson(value: number): JsonValue {
  return Number.isSafeInteger(value) ? new JsonNumber(formatFloat(value)) : value;
}

function boolBytes(json: JsonValue): Uint8Array {
  if (typeof json !== "boolean") throw corrupt("the item is neither true nor false", { found: typeof json });
  return Uint8Array.of(Number(json));
}

function textBytes(json: JsonValue, size: number): Uint8Array {
  if (typeof json !== "string") throw corrupt("the item is not text", { found: typeof json });
  return parseTextFill(json, size, "");
}
