import type { DataType } from "../../meta/data-type.ts";
import { parseFillV3 } from "../../meta/v3/fill-value.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import { readNumbers } from "../numbers/number-array.ts";
import { dataTypeOf, type NumberType, numberTypeOf } from "../numbers/number-type.ts";

/**
 * Reads a number in the form of v3 fill values.
 *
 * @throws `invalid-metadata`
 */
export function scalar(json: JsonValue, type: NumberType, option: string): number | bigint {
  // The specification of the codec uses this form; fill values do not.
  const plain = json === "+Infinity" ? "Infinity" : json;
  const bytes = inOption(option, () => parseFillV3(plain, dataTypeOf(type), "little", ""));
  return readNumbers(bytes, type)[0] ?? 0;
}

/** Calls `read` and names the option in its errors. The chain adds the place in the document. */
export function inOption<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    const { value, hint } = error.details;
    const details = { value, ...(hint !== undefined && { hint }) };
    const reason = `\`${option}\`: ${error.reason}`;
    throw ZarrflowError.like({ code: error.code, reason, details }, { cause: error });
  }
}

/**
 * The type of the numbers at the codec's place.
 *
 * @throws `invalid-metadata` if the items are not numbers.
 */
export function numbersAt(name: string, dataType: DataType): NumberType {
  const type = numberTypeOf(dataType);
  if (type) return type;
  throw new ZarrflowError(
    "invalid-metadata",
    `\`${name}\` computes with integers and floats, not with items of type ${dataType.kind}`,
  );
}

/**
 * Checks that all members of a configuration are known: an unknown one could change the meaning of the data.
 *
 * @throws `invalid-metadata`
 */
export function assertNames(configuration: JsonObject, names: readonly string[]): void {
  const other = Object.keys(configuration).find((name) => !names.includes(name));
  if (other === undefined) return;
  throw new ZarrflowError("invalid-metadata", `\`${other}\` is not an option of the codec`, {
    hint: `Its settings are ${names.join(", ")}.`,
  });
}
