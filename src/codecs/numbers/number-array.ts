import { fromFloat16Bits, toFloat16Bits } from "../../util/float16.ts";
import { swapBytes } from "../kernels/swap-bytes.ts";
import { wordsOf } from "../kernels/words.ts";
import type { NumberType } from "./number-type.ts";

export type NumberArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;
export type BigArray = BigInt64Array | BigUint64Array;

const ARRAYS = {
  int: { 1: Int8Array, 2: Int16Array, 4: Int32Array, 8: BigInt64Array },
  uint: { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array },
  // Not every runtime has Float16Array, so half floats are held as doubles, which represent them exactly.
  float: { 1: Float64Array, 2: Float64Array, 4: Float32Array, 8: Float64Array },
} as const;

/** Reads the numbers in `bytes`: a view if they are aligned and in the machine's byte order, otherwise a copy. */
export function readNumbers(bytes: Uint8Array, type: NumberType): NumberArray | BigArray {
  const items = Math.floor(bytes.length / type.size);
  if (isHalf(type)) {
    const bits = new Uint16Array(aligned(bytes, type).buffer);
    const numbers = new Float64Array(items);
    for (let i = 0; i < items; i++) numbers[i] = fromFloat16Bits(bits[i] as number);
    return numbers;
  }
  if (isDirect(bytes, type)) return viewOf(bytes, type, items);
  const copy = aligned(bytes, type);
  return viewOf(copy, type, items);
}

/** Bytes of the working copy of a number that is in another byte order, not aligned, or a half float. */
export function copySize(type: NumberType): number {
  return isHalf(type) ? type.size + Float64Array.BYTES_PER_ELEMENT : type.size;
}

/** Calls `fill` with an array for `items` numbers, then stores them in `target` as `type`. */
export function writeNumbers(
  target: Uint8Array,
  type: NumberType,
  items: number,
  fill: (numbers: NumberArray | BigArray) => void,
): void {
  if (isHalf(type)) {
    const numbers = new Float64Array(items);
    fill(numbers);
    const bits = new Uint16Array(items);
    for (let i = 0; i < items; i++) bits[i] = toFloat16Bits(numbers[i] as number);
    put(new Uint8Array(bits.buffer), target, type);
  } else if (isDirect(target, type)) fill(viewOf(target, type, items));
  else {
    const bytes = new Uint8Array(items * type.size);
    fill(viewOf(bytes, type, items));
    put(bytes, target, type);
  }
}

/** Returns a function that converts results to `type`: integers wrap, floats round. Not for 64-bit integers. */
export function keeper({ kind, size }: NumberType): (value: number) => number {
  if (kind === "float") {
    if (size === 2) return (value) => fromFloat16Bits(toFloat16Bits(value));
    return size === 4 ? Math.fround : (value) => value;
  }
  const unused = 32 - 8 * size;
  return kind === "int" ? (value) => (value << unused) >> unused : (value) => (value << unused) >>> unused;
}

export function isBig(numbers: NumberArray | BigArray): numbers is BigArray {
  return numbers instanceof BigInt64Array || numbers instanceof BigUint64Array;
}

function viewOf(bytes: Uint8Array, { kind, size }: NumberType, items: number): NumberArray | BigArray {
  const NumberArray = ARRAYS[kind][size as 1 | 2 | 4 | 8];
  return new NumberArray(bytes.buffer as ArrayBuffer, bytes.byteOffset, items);
}

function isHalf({ kind, size }: NumberType): boolean {
  return kind === "float" && size === 2;
}

function isDirect(bytes: Uint8Array, { size, endian }: NumberType): boolean {
  return (endian === "little" || size === 1) && bytes.byteOffset % size === 0;
}

/** Copies the whole items of `bytes` to a new buffer, aligned and little-endian. */
function aligned(bytes: Uint8Array, { size, endian }: NumberType): Uint8Array {
  const copy = new Uint8Array(Math.floor(bytes.length / size) * size);
  copy.set(bytes.subarray(0, copy.length));
  if (endian === "big" && size > 1) swapBytes(wordsOf(copy), 0, copy.length, size);
  return copy;
}

function put(bytes: Uint8Array, target: Uint8Array, { size, endian }: NumberType): void {
  if (endian === "big" && size > 1) swapBytes(wordsOf(bytes), 0, bytes.length, size);
  target.set(bytes);
}
