import type { DataType, FixedDataType } from "../../meta/data-type.ts";
import {
  decodeCodePoints,
  parseNumber,
  parseTextFill,
  readString,
  writeNumber,
} from "../../meta/fill-values.ts";
import { numberKindOf, readNumber } from "../../meta/number-kinds.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { JSON_VALUES, parseJson } from "../../util/json-parse.ts";
import { fromPlain, JsonNumber, type JsonValue, toPlain } from "../../util/json-value.ts";
import { formatFloat, writeJson } from "../../util/json-write.ts";
import type { VariableData } from "../chunk-data.ts";
import { corrupt } from "../limits.ts";
import { packItems } from "./packed-items.ts";

/** Strings, `Uint8Array`s or JSON values, as input and output of an object codec. */
export type ObjectValues = readonly unknown[];

/** The values of a chunk in C order. */
export function unpackValues({ bytes, offsets }: VariableData, dataType: DataType): unknown[] {
  return Array.from({ length: offsets.length - 1 }, (_, i) =>
    plainValue(bytes.subarray(offsets[i], offsets[i + 1]), dataType),
  );
}

/**
 * Creates a chunk of values, given in C order; `null` becomes an empty string or no bytes.
 *
 * @throws `invalid-option` for a value that is not of the type.
 */
export function packValues(values: ObjectValues, dataType: DataType, shape: readonly number[]): VariableData {
  return packItems(
    values.map((value) => bytesOf(value, dataType)),
    shape,
    plainBuffers,
  );
}

function plainValue(bytes: Uint8Array, { kind }: DataType): unknown {
  if (kind === "binary") return bytes.slice();
  return kind === "string" ? readString(bytes) : toPlain(parseObject(bytes));
}

function bytesOf(value: unknown, { kind }: DataType): Uint8Array {
  if (kind === "object") return new TextEncoder().encode(objectText(fromPlain(value)));
  if (value === null) return new Uint8Array(0);
  if (kind === "binary" && value instanceof Uint8Array) return value;
  if (kind === "string" && typeof value === "string" && !/\p{Surrogate}/u.test(value)) {
    return new TextEncoder().encode(value);
  }
  throw new ZarrflowError("invalid-option", `this is not a ${kind} value`, { value });
}

/** Parses the JSON text of an object, with bare tokens for numbers that are not finite; empty text is `null`. */
export function parseObject(text: Uint8Array): JsonValue {
  return text.length === 0 ? null : parseJson(text, JSON_VALUES);
}

/** The JSON text that represents an object between codecs. */
export function objectText(object: JsonValue): string {
  return writeJson(object, { nonFinite: "token" });
}

/** Converts items of a type, little-endian, to the JSON values that Python writes for them, and back. */
export interface JsonElements {
  toJson(bytes: Uint8Array): JsonValue;
  /** @throws `invalid-metadata`, `corrupt-chunk` for a value that is not of the type. */
  toBytes(json: JsonValue): Uint8Array;
  /** The most characters of a value. */
  readonly maxText: number;
}

/** The converter for items of a type; undefined for types without JSON values. */
export function jsonElements(dataType: FixedDataType): JsonElements | undefined {
  switch (dataType.kind) {
    case "bool":
      return { toJson: ([byte]) => byte !== 0, toBytes: boolBytes, maxText: 5 };
    case "int":
    case "uint":
    case "float": {
      const kind = numberKindOf(dataType);
      // Chunks name their type as NumPy does.
      if (kind.numpy === undefined) return undefined;
      const isFloat = dataType.kind === "float";
      return {
        toJson: (bytes) =>
          isFloat ? floatJson(Number(readNumber(bytes, kind))) : (writeNumber(bytes, dataType, {}) ?? null),
        toBytes: (json) => parseNumber(json, dataType, "", { isLenient: true }),
        maxText: isFloat ? 25 : 20,
      };
    }
    case "fixed-text":
      return {
        toJson: (bytes) => decodeCodePoints(bytes) ?? "",
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
