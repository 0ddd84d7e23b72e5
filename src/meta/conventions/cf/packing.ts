import { JsonNumber } from "../../../util/json-value.ts";
import { onlyItem } from "../../assert-json.ts";
import type { DataType } from "../../data-type.ts";
import { isReal } from "../../number-kinds.ts";

/**
 * How numbers are packed: `packed * scale + offset`, possibly stored as integers of the other sign. Section 8.1 of
 * CF.
 */
export interface Packing {
  readonly scale: number | undefined;
  readonly offset: number | undefined;
  /**
   * Set if unsigned integers are stored as signed ones, or vice versa: their bits, and whether the decoded integers are
   * signed.
   */
  readonly reread: { readonly bits: number; readonly signed: boolean } | undefined;
}

/** Returns the packing of an array from its attributes; undefined if its numbers are not packed. */
export function packingOf(
  dataType: DataType,
  attributes: Readonly<Record<string, unknown>>,
): Packing | undefined {
  if (!isReal(dataType)) return undefined;
  const scale = numberIn(attributes.scale_factor);
  const offset = numberIn(attributes.add_offset);
  const unsigned = onlyItem(attributes._Unsigned);
  const signed = unsigned === "false";
  const isOther = dataType.kind === "int" ? unsigned === "true" : dataType.kind === "uint" && signed;
  const reread = isOther ? { bits: 8 * dataType.size, signed } : undefined;
  if (scale === undefined && offset === undefined && reread === undefined) return undefined;
  return { scale, offset, reread };
}

/** Unpacks a number; 64-bit integers stay bigints unless they are scaled. */
export function unpacked(value: number | bigint, { scale, offset, reread }: Packing): number | bigint {
  const read = reread ? rereadInteger(value, reread) : value;
  if (scale === undefined && offset === undefined) return read;
  const scaled = Number(read) * (scale ?? 1);
  return offset === undefined ? scaled : scaled + offset;
}

/** Reinterprets the bits of an integer with the other sign. */
export function rereadInteger(
  value: number | bigint,
  { bits, signed }: NonNullable<Packing["reread"]>,
): number | bigint {
  const whole = BigInt(value);
  const other = signed ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
  return typeof value === "bigint" ? other : Number(other);
}

/** The attribute as a number, also from a list of one. */
export function numberIn(attribute: unknown): number | undefined {
  const one = onlyItem(attribute);
  const isNumber = typeof one === "number" || typeof one === "bigint" || one instanceof JsonNumber;
  return isNumber ? Number(one) : undefined;
}
