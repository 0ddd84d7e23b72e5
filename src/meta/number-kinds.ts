import { fromFloat16Bits, toFloat16Bits } from "../util/numbers.ts";
import { assertItemSize } from "./assert-json.ts";
import { type DataType, type Field, isFixed } from "./data-type.ts";
import { fieldItems } from "./element-order.ts";

/** The little-endian two's complement of `value` in `size` bytes; undefined if it does not fit. */
export function integerBytes(value: bigint, size: number, signed: boolean): Uint8Array | undefined {
  const bits = BigInt(size * 8);
  const [least, end] = signed ? [-(1n << (bits - 1n)), 1n << (bits - 1n)] : [0n, 1n << bits];
  if (value < least || value >= end) return undefined;
  return Uint8Array.from({ length: size }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

export function readInteger(bytes: Uint8Array, signed: boolean): bigint {
  const value = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return signed ? BigInt.asIntN(bytes.length * 8, value) : value;
}

/** The nearest little-endian float; NaN becomes the positive quiet NaN without payload. */
export function floatBytes(value: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  if (size === 2) view.setUint16(0, toFloat16Bits(value), true);
  else if (size === 4) view.setFloat32(0, value, true);
  else view.setFloat64(0, value, true);
  return bytes;
}

export function readFloat(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 2) return fromFloat16Bits(view.getUint16(0, true));
  return bytes.length === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true);
}

/** True if both arrays have the same bytes. */
export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** True unless the bytes are a NaN other than the canonical one, which contains more information than its value. */
export function isCanonical(bytes: Uint8Array): boolean {
  const value = readFloat(bytes);
  return !Number.isNaN(value) || bytesEqual(bytes, floatBytes(Number.NaN, bytes.length));
}

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

/** Size of packed fields in bytes. @throws `resource-limit` */
export function structSize(fields: readonly Field[], pointer: string): number {
  const sizes = fields.map((field) =>
    isFixed(field.dataType) ? field.dataType.size * fieldItems(field) : 0,
  );
  const size = sizes.reduce((sum, n) => sum + n, 0);
  assertItemSize(size, pointer);
  return size;
}
