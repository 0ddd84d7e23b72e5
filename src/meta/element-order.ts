import { product } from "../util/shape.ts";
import { type Endian, type Field, type FixedDataType, isFixed } from "./data-type.ts";

/** Items of the field's type in one element: 1, or those of its sub-array. */
export function fieldItems(field: Field): number {
  return product(field.shape ?? []);
}

/**
 * One element between the byte order in which it is stored and little-endian, either way; fields that state a byte
 * order of their own keep to it. Returns a new array.
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

/** Bytes that change places together: a number, half a complex number, a code point; 1 where order means nothing. */
export function swapUnit(dataType: FixedDataType): number {
  switch (dataType.kind) {
    case "bool":
    case "fixed-bytes":
    case "raw":
    case "struct":
      return 1;
    case "fixed-text":
      return 4;
    case "complex":
      return dataType.size / 2;
    default:
      return dataType.size;
  }
}

/** Whether stored elements have a byte order at all. */
export function hasByteOrder(dataType: FixedDataType): boolean {
  if (dataType.kind !== "struct") return swapUnit(dataType) > 1;
  return dataType.fields.some((field) => isFixed(field.dataType) && hasByteOrder(field.dataType));
}
