import { type DataType, type Field, isFixed } from "../../meta/data-type.ts";
import { fieldItems } from "../../meta/element-order.ts";
import { padBytes, parseStringFill, parseTextFill } from "../../meta/fill-values.ts";
import { floatBytes, integerBytes } from "../../meta/number-bytes.ts";
import { joinBytes } from "../../util/buffers.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { fromPlain } from "../../util/json-plain.ts";
import { writeJson } from "../../util/json-write.ts";

/**
 * Encodes a JavaScript value as little-endian bytes, for which `slice` returns the same value.
 *
 * @throws `invalid-option` if it is not a value of the data type.
 */
export function itemBytes(value: unknown, dataType: DataType): Uint8Array {
  try {
    const bytes = encode(value, dataType);
    if (bytes) return bytes;
  } catch (error) {
    if (!isZarrflowError(error, "invalid-metadata")) throw error;
    throw new ZarrflowError("invalid-option", `a value of the data type ${error.reason}`, { value });
  }
  throw new ZarrflowError("invalid-option", "this is not a value of the array's data type", {
    value,
    expected: dataType.kind,
  });
}

function encode(value: unknown, dataType: DataType): Uint8Array | undefined {
  switch (dataType.kind) {
    case "bool":
      return typeof value === "boolean" ? Uint8Array.of(Number(value)) : undefined;
    case "int":
    case "uint":
      return integer(value, dataType.size, dataType.kind === "int");
    case "datetime":
    case "timedelta":
      return integer(value, dataType.size, true);
    case "float":
      return typeof value === "number" ? floatBytes(value, dataType.size) : undefined;
    case "complex":
      return complex(value, dataType.size);
    case "fixed-text":
      return typeof value === "string" ? parseTextFill(value, dataType.size, "") : undefined;
    case "fixed-bytes":
      return value instanceof Uint8Array ? padBytes(value, dataType.size, "") : undefined;
    case "raw":
      return value instanceof Uint8Array && value.length === dataType.size ? value : undefined;
    case "struct":
      return fields(value, dataType.fields);
    case "string":
      return typeof value === "string" ? parseStringFill(value, "") : undefined;
    case "binary":
      return value instanceof Uint8Array ? value : undefined;
    case "object":
      return new TextEncoder().encode(writeJson(fromPlain(value), { nonFinite: "token" }));
  }
}

function integer(value: unknown, size: number, isSigned: boolean): Uint8Array | undefined {
  const isInteger = typeof value === "bigint" || Number.isInteger(value);
  return isInteger ? integerBytes(BigInt(value as number | bigint), size, isSigned) : undefined;
}

function complex(value: unknown, size: number): Uint8Array | undefined {
  const isPair = Array.isArray(value) && value.length === 2 && value.every((n) => typeof n === "number");
  return isPair ? joinBytes(value.map((part: number) => floatBytes(part, size / 2))) : undefined;
}

/** Encodes an object with a value for every named field as a structure; padding is zero. */
function fields(value: unknown, all: readonly Field[]): Uint8Array | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const parts = all.map((field) => {
    const { name, dataType } = field;
    if (name === "") return new Uint8Array(isFixed(dataType) ? dataType.size * fieldItems(field) : 0);
    const item: unknown = Object.hasOwn(value, name) ? value[name as keyof typeof value] : undefined;
    return field.shape ? subarray(item, field) : itemBytes(item, dataType);
  });
  return joinBytes(parts);
}

function subarray(values: unknown, field: Field): Uint8Array {
  if (!Array.isArray(values) || values.length !== fieldItems(field)) {
    throw new ZarrflowError(
      "invalid-option",
      `the field \`${field.name}\` needs all values of its sub-array`,
      {
        expected: `${fieldItems(field)} values`,
      },
    );
  }
  return joinBytes(values.map((value) => itemBytes(value, field.dataType)));
}
