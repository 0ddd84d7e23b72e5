import { fromFloat16Bits, toFloat16Bits } from "../util/float16.ts";

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
