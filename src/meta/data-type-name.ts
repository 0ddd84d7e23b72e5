/** Types of numbers, each with the typed array that holds its items; those of complex numbers hold two an item. */
export interface NumberArrays {
  readonly bool: Uint8Array;
  readonly int8: Int8Array;
  readonly int16: Int16Array;
  readonly int32: Int32Array;
  readonly int64: BigInt64Array;
  readonly uint8: Uint8Array;
  readonly uint16: Uint16Array;
  readonly uint32: Uint32Array;
  readonly uint64: BigUint64Array;
  readonly float16: Float32Array;
  readonly float32: Float32Array;
  readonly float64: Float64Array;
  readonly complex64: Float32Array;
  readonly complex128: Float64Array;
}

type TimeName = `datetime64[${string}]` | `timedelta64[${string}]`;
type TextName = "string" | `U${number}`;
type BytesName = "binary" | `S${number}` | `r${number}`;
type StructName = `struct{${string}}`;

/** A data type in words, as `ZarrArray.dataType` says it. */
export type DataTypeName = keyof NumberArrays | TimeName | TextName | BytesName | StructName | "object";
