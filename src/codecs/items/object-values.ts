import type { DataType } from "../../meta/data-type.ts";
import { readString } from "../../meta/fill-values.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { JSON_VALUES, parseJson } from "../../util/json-parse.ts";
import { fromPlain, type JsonValue, toPlain } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import type { VariableData } from "../chunk-data.ts";
import { packItems } from "./packed-items.ts";

/** Strings, `Uint8Array`s or JSON values, as input and output of an object codec. */
export type ObjectValues = readonly unknown[];

/** The values of a chunk in C order. */
export function valuesOf({ bytes, offsets }: VariableData, dataType: DataType): unknown[] {
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
