/** Byte order of stored elements; decoded data are always little-endian. */
export type Endian = "little" | "big";

/** The type of one element. Fixed types have a size in bytes; `string`, `binary` and `object` are variable. */
export type DataType =
  | { readonly kind: "bool"; readonly size: 1 }
  | { readonly kind: "int" | "uint"; readonly size: 1 | 2 | 4 | 8 }
  | { readonly kind: "float"; readonly size: 2 | 4 | 8 }
  | { readonly kind: "complex"; readonly size: 8 | 16 }
  | {
      readonly kind: "datetime" | "timedelta";
      readonly size: 8;
      readonly unit: string;
      readonly scale: number;
    }
  | { readonly kind: "fixed-bytes"; readonly size: number }
  | { readonly kind: "fixed-text"; readonly size: number }
  | { readonly kind: "raw"; readonly size: number }
  | { readonly kind: "struct"; readonly size: number; readonly fields: readonly Field[] }
  | { readonly kind: "string" }
  | { readonly kind: "binary" }
  | { readonly kind: "object" };

/** Largest element of a fixed type, in bytes, because fill values are kept in memory. */
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

/** A data type whose elements all take the same number of bytes. */
export type FixedDataType = Extract<DataType, { readonly size: number }>;

/** True if elements have a fixed size in bytes. */
export function isFixed(dataType: DataType): dataType is FixedDataType {
  return "size" in dataType;
}

/** Assumed average size of variable items, in bytes. */
export const VARIABLE_ITEM_SIZE = 32;

/** Bytes per item; an assumption for variable items. */
export function expectedItemSize(dataType: DataType): number {
  return isFixed(dataType) ? dataType.size : VARIABLE_ITEM_SIZE;
}
