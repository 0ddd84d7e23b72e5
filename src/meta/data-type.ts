import { ZarrflowError } from "../util/errors.ts";
import { product } from "../util/shape.ts";
import { type NumberDataType, numbersPerItem } from "./number-kinds.ts";

/** Byte order of stored items; decoded data are always little-endian. */
export type Endian = "little" | "big";

/** The type of one item. Fixed types have a size in bytes; `string`, `binary` and `object` are variable. */
export type DataType =
  | NumberDataType
  | { readonly kind: "fixed-bytes"; readonly size: number }
  | { readonly kind: "fixed-text"; readonly size: number }
  | { readonly kind: "raw"; readonly size: number }
  | { readonly kind: "struct"; readonly size: number; readonly fields: readonly Field[] }
  | { readonly kind: "string" }
  | { readonly kind: "binary" }
  | { readonly kind: "object" };

/** Maximum size of an item of a fixed type, in bytes, because fill values are kept in memory. */
export const MAX_ITEM_SIZE = 2 ** 24;

/** One field of a structured type; fields are packed in order, without gaps. */
export interface Field {
  /** Name; "" is padding. */
  readonly name: string;
  readonly dataType: DataType;
  /** Sub-array shape, in C order; absent for a plain field. */
  readonly shape?: readonly number[];
  /** The field's own stored byte order (v2); if absent, that of the enclosing type or of the codec. */
  readonly endian?: Endian;
}

/** A data type whose items all take the same number of bytes. */
export type FixedDataType = Extract<DataType, { readonly size: number }>;

/** True if items have a fixed size in bytes. */
export function isFixed(dataType: DataType): dataType is FixedDataType {
  return "size" in dataType;
}

/** Assumed average size of variable items, in bytes. */
export const VARIABLE_ITEM_SIZE = 32;

/** Bytes per item; an assumption for variable items. */
export function expectedItemSize(dataType: DataType): number {
  return isFixed(dataType) ? dataType.size : VARIABLE_ITEM_SIZE;
}

/** True if two data types represent the same values by the same bytes; ignores the stored byte order of fields. */
export function sameDataType(a: DataType, b: DataType): boolean {
  if (a.kind === "struct" && b.kind === "struct") {
    return a.fields.length === b.fields.length && a.fields.every((field, i) => sameField(field, b.fields[i]));
  }
  const plain = ({ kind, ...rest }: DataType) =>
    JSON.stringify([kind, ...Object.entries(rest).sort().flat()]);
  return plain(a) === plain(b);
}

/** True if the fields of two such data types have the same own byte orders. */
export function sameFieldOrders(a: DataType, b: DataType): boolean {
  if (a.kind !== "struct" || b.kind !== "struct") return true;
  return a.fields.every((field, i) => {
    const other = b.fields[i];
    return field.endian === other?.endian && other && sameFieldOrders(field.dataType, other.dataType);
  });
}

function sameField(a: Field, b: Field | undefined): boolean {
  if (b === undefined) return false;
  return (
    a.name === b.name && `${a.shape ?? ""}` === `${b.shape ?? ""}` && sameDataType(a.dataType, b.dataType)
  );
}

/** Units of NumPy's times and time differences. */
const UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];

/** The decoded type, without the byte orders of stored fields. */
export function withoutFieldOrders(dataType: DataType): DataType {
  if (dataType.kind !== "struct") return dataType;
  const fields = dataType.fields.map(({ endian: _, ...field }) => ({
    ...field,
    dataType: withoutFieldOrders(field.dataType),
  }));
  return { ...dataType, fields };
}

/** Largest number of units per step. */
export const MAX_TIME_SCALE = 2 ** 31 - 1;

/** The unit in NumPy's spelling, accepting both Unicode letters for micro; undefined if it is not a unit. */
export function normalTimeUnit(unit: string): string | undefined {
  const name = unit === "\u03bcs" || unit === "\u00b5s" ? "us" : unit;
  return UNITS.includes(name) ? name : undefined;
}

/** @throws `resource-limit` if an item exceeds the maximum size. */
export function assertItemSize(size: number, pointer: string): void {
  if (size <= MAX_ITEM_SIZE) return;
  throw new ZarrflowError("resource-limit", "an element is too large", {
    pointer,
    expected: `at most ${MAX_ITEM_SIZE} bytes`,
    found: size,
  });
}

/** Number of items in one field: 1, or the size of its sub-array. */
export function fieldItems(field: Field): number {
  return product(field.shape ?? []);
}

/** Size of packed fields in bytes. @throws `resource-limit` */
export function structSize(fields: readonly Field[], pointer: string): number {
  const sizes = fields.map((field) =>
    isFixed(field.dataType) ? field.dataType.size * fieldItems(field) : 0,
  );
  const size = sizes.reduce((sum, n) => sum + n, 0);
  assertItemSize(size, pointer);
  return size;
}

/**
 * Converts one item between its stored byte order and little-endian, in either direction. Fields with their own byte
 * order keep it. Returns a new array.
 */
export function swapItem(element: Uint8Array, dataType: FixedDataType, endian: Endian): Uint8Array {
  const swapped = element.slice();
  swapInPlace(swapped, dataType, endian);
  return swapped;
}

function swapInPlace(element: Uint8Array, dataType: FixedDataType, endian: Endian): void {
  if (dataType.kind !== "struct") {
    if (endian === "little") return;
    const unit = swapUnit(dataType);
    for (let at = 0; at < element.length; at += unit) element.subarray(at, at + unit).reverse();
    return;
  }
  let at = 0;
  for (const field of dataType.fields) {
    if (!isFixed(field.dataType)) continue;
    const { size } = field.dataType;
    for (let item = fieldItems(field); item > 0; item--, at += size) {
      swapInPlace(element.subarray(at, at + size), field.dataType, field.endian ?? endian);
    }
  }
}

/** Bytes that are reversed together: a number, half a complex number, a code point; 1 if order means nothing. */
export function swapUnit(dataType: FixedDataType): number {
  switch (dataType.kind) {
    case "fixed-text":
      return 4;
    case "fixed-bytes":
    case "raw":
    case "struct":
      return 1;
    default:
      return dataType.size / numbersPerItem(dataType);
  }
}

/** True if stored items have a byte order. */
export function hasByteOrder(dataType: FixedDataType): boolean {
  if (dataType.kind !== "struct") return swapUnit(dataType) > 1;
  return dataType.fields.some((field) => isFixed(field.dataType) && hasByteOrder(field.dataType));
}
