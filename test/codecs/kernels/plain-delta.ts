import type { NumberFormat } from "../../../src/codecs/kernels/kernel-types.ts";

/** Arrays that keep what numbers of a format keep: whole ones wrap, others round. Those of 64 bits go by their words. */
const ARRAYS = {
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;
type Numbers = InstanceType<(typeof ARRAYS)[NumberFormat]>;

/** The first number of `source`, then each less the one before it. */
export function deltaEncode(source: Uint8Array, target: Uint8Array, format: NumberFormat): void {
  const numbers = numbersOf(source, format);
  if (format === "i64") wideDifferences(numbers);
  else for (let i = numbers.length - 1; i > 0; i--) numbers[i] = at(numbers, i) - at(numbers, i - 1);
  target.set(bytesOf(numbers));
}

/** In place, each number plus all before it. */
export function deltaDecode(bytes: Uint8Array, format: NumberFormat): void {
  const numbers = numbersOf(bytes, format);
  if (format === "i64") wideSums(numbers);
  else for (let i = 1; i < numbers.length; i++) numbers[i] = at(numbers, i - 1) + at(numbers, i);
  bytes.set(bytesOf(numbers));
}

/** 64-bit differences by words, low word first: several times faster than bigints. */
function wideDifferences(words: Numbers): void {
  for (let i = words.length - 2; i > 0; i -= 2) {
    const borrow = at(words, i) < at(words, i - 2) ? 1 : 0;
    words[i] = at(words, i) - at(words, i - 2);
    words[i + 1] = at(words, i + 1) - at(words, i - 1) - borrow;
  }
}

function wideSums(words: Numbers): void {
  for (let i = 2; i < words.length; i += 2) {
    const low = at(words, i - 2) + at(words, i);
    words[i] = low;
    words[i + 1] = at(words, i - 1) + at(words, i + 1) + (low > 0xffff_ffff ? 1 : 0);
  }
}

/** A copy: views may lie unaligned. */
function numbersOf(bytes: Uint8Array, format: NumberFormat): Numbers {
  return new ARRAYS[format](bytes.slice().buffer);
}

function bytesOf(numbers: Numbers): Uint8Array {
  return new Uint8Array(numbers.buffer);
}

function at(numbers: Numbers, i: number): number {
  return numbers[i] as number;
}
