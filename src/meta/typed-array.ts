import type { DataType } from "./data-type.ts";

const CONSTRUCTORS = {
  bool1: Uint8Array,
  int1: Int8Array,
  int2: Int16Array,
  int4: Int32Array,
  int8: BigInt64Array,
  uint1: Uint8Array,
  uint2: Uint16Array,
  uint4: Uint32Array,
  uint8: BigUint64Array,
  float4: Float32Array,
  float8: Float64Array,
  complex8: Float32Array,
  complex16: Float64Array,
  datetime8: BigInt64Array,
  timedelta8: BigInt64Array,
} as const;

/** Numbers of one type in a typed array. */
export type Numbers =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigUint64Array
  | BigInt64Array
  | Float32Array
  | Float64Array;

export type TypedArrayConstructor = (typeof CONSTRUCTORS)[keyof typeof CONSTRUCTORS];

/** The typed array for a type's numbers; undefined for types without one, such as float16 and text. */
export function typedArrayOf(dataType: DataType): TypedArrayConstructor | undefined {
  if (!("size" in dataType)) return undefined;
  return CONSTRUCTORS[`${dataType.kind}${dataType.size}` as keyof typeof CONSTRUCTORS];
}

/** Number of typed array entries per item. */
export function numbersPerItem({ kind }: DataType): 1 | 2 {
  return kind === "complex" ? 2 : 1;
}
