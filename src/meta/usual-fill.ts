import { parseInteger } from "../util/decimal.ts";
import { JsonNumber, type JsonValue } from "../util/json-value.ts";
import { tokenOf } from "./assert-json.ts";
import type { DataType } from "./data-type.ts";

/**
 * Converts fill values in other writers' spellings to the format's own: `"0"` and `1.0` of integers, 0 and 1 of
 * booleans. Returns all others unchanged.
 *
 * @param onOther called with a description of each other spelling
 */
export function usualFill(
  json: JsonValue,
  dataType: DataType,
  onOther: (message: string) => void = () => {},
): JsonValue {
  const usual = usualForm(json, dataType);
  if (usual === undefined) return json;
  onOther(`the fill value is ${usual.instead}; it is read as ${usual.as}`);
  return usual.json;
}

/**
 * Like `usualFill`; also converts the number 0 of variable-length text, which zarr-python 2 wrote for arrays of
 * objects.
 */
export function usualFillV2(
  json: JsonValue,
  dataType: DataType,
  onOther: (message: string) => void = () => {},
): JsonValue {
  if (dataType.kind !== "string" || tokenOf(json) !== "0") return usualFill(json, dataType, onOther);
  onOther('the fill value is the number 0; it is read as the text "0"');
  return "0";
}

interface UsualForm {
  readonly json: JsonValue;
  readonly instead: string;
  readonly as: string;
}

function usualForm(json: JsonValue, { kind }: DataType): UsualForm | undefined {
  const token = tokenOf(json);
  switch (kind) {
    case "int":
    case "uint": {
      const digits = typeof json === "string" ? json : token;
      if (digits === undefined || !INTEGER_TEXT.test(digits)) return undefined;
      if (typeof json !== "string" && DIGITS.test(digits)) return undefined;
      const integer = parseInteger(digits);
      const instead = typeof json === "string" ? "text" : "written as a fraction";
      return integer === undefined
        ? undefined
        : { json: new JsonNumber(String(integer)), instead, as: String(integer) };
    }
    case "bool":
      if (token !== "0" && token !== "1") return undefined;
      return { json: token === "1", instead: "a number", as: String(token === "1") };
    default:
      return undefined;
  }
}

const DIGITS = /^-?[0-9]+$/;
/** An integer's text, or a number token that may be an integer. */
const INTEGER_TEXT = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
