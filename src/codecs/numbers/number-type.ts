import type { DataType, Endian, FixedDataType } from "../../meta/data-type.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { ConfigReader } from "../config-reader.ts";

/** The type of the numbers that a filter computes with. */
export interface NumberType {
  readonly kind: "int" | "uint" | "float";
  readonly size: 1 | 2 | 4 | 8;
  readonly endian: Endian;
}

const KINDS = { i: "int", u: "uint", f: "float", m: "int", M: "int" } as const;
const TYPE = /^[<>|=]?([iuf][1248]|[mM]8(?:\[.*\])?)$/;

const SIZES = [1, 2, 4, 8] as const;

/** The data type without its byte order. */
export function dataTypeOf({ kind, size }: NumberType): FixedDataType {
  if (kind !== "float") return { kind, size };
  return { kind, size: size === 1 ? 2 : size };
}

/** The number type of little-endian items; undefined if the data type is not a type of real numbers. */
export function numberTypeOf(dataType: DataType): NumberType | undefined {
  const { kind } = dataType;
  if (kind !== "int" && kind !== "uint" && kind !== "float") return undefined;
  return { kind, size: dataType.size, endian: "little" };
}

/**
 * Reads the NumPy type in a setting, such as `<f4`; times are read as the integers that store them.
 *
 * @throws `invalid-metadata` if the setting is absent; `unsupported-data-type` if it is not a number type.
 */
export function numberType(settings: ConfigReader, name: string, fallback?: NumberType): NumberType {
  if (fallback && settings.value(name) === undefined) return fallback;
  const text = settings.text(name);
  const [, code = ""] = TYPE.exec(text) ?? [];
  const kind = KINDS[code[0] as keyof typeof KINDS];
  const size = SIZES.find((one) => String(one) === code[1]);
  if (kind === undefined || size === undefined || (kind === "float" && size === 1)) {
    throw new ZarrflowError("unsupported-data-type", `\`${name}\` is not a number type`, {
      value: text,
      hint: "Filters compute with `i`, `u` and `f` types of 1 to 8 bytes, such as `<f4`.",
    });
  }
  return { kind, size, endian: text.startsWith(">") ? "big" : "little" };
}
