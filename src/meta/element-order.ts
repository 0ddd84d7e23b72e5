import { product } from "../util/shape.ts";
import { assertItemSize } from "./assert-json.ts";
import { type Endian, type Field, type FixedDataType, isFixed } from "./data-type.ts";
import { numbersPerItem } from "./number-kinds.ts";

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
 * Converts one element between its stored byte order and little-endian, in either direction. Fields with their own
 * byte order keep it. Returns a new array.
 */
export function swapElement(element: Uint8Array, dataType: FixedDataType, endian: Endian): Uint8Array {
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

/** True if stored elements have a byte order. */
export function hasByteOrder(dataType: FixedDataType): boolean {
  if (dataType.kind !== "struct") return swapUnit(dataType) > 1;
  return dataType.fields.some((field) => isFixed(field.dataType) && hasByteOrder(field.dataType));
}
