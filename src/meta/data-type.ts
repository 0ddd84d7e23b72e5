/** Byte order of stored elements; decoded data are always little-endian. */
export type Endian = "little" | "big";

/** What one element is. Fixed types have a size in bytes; `string`, `binary` and `object` are variable. */
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

/** One field of a structured type; fields are packed in order, without gaps. */
export interface Field {
  /** Name; "" is padding. */
  readonly name: string;
  readonly dataType: DataType;
  /** Sub-array shape, in C order; absent for a plain field. */
  readonly shape?: readonly number[];
  /** Stored byte order where the field states its own (v2); else the codec's holds. */
  readonly endian?: Endian;
}

/** A data type whose elements all take the same number of bytes. */
export type FixedDataType = Extract<DataType, { readonly size: number }>;

/** Whether elements have a fixed size in bytes. */
export function isFixed(dataType: DataType): dataType is FixedDataType {
  return "size" in dataType;
}
