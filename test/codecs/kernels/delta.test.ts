import { describe, expect, test } from "vitest";
import type { NumberFormat } from "../../../src/codecs/kernels/kernel-types.ts";
import { expectSame, guarded, randomNumbers } from "../support.ts";
import { bothKernels, wasmKernels } from "./kernel-pair.ts";
import { plainKernels } from "./plain-kernels.ts";

const NUMBER_FORMATS: readonly (readonly [NumberFormat, number])[] = [
  ["i8", 1],
  ["i16", 2],
  ["i32", 4],
  ["i64", 8],
  ["f32", 4],
  ["f64", 8],
];
const COUNTS = [0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 100, 8192, 8193, 16_385, 65_537];

/** Noise in whole lanes, also numbers that are none, endless, of negative zero. */
function noise(format: NumberFormat, size: number, count: number): Uint8Array {
  const random = randomNumbers(count + size);
  const bytes = Uint8Array.from({ length: count * size }, () => random(256));
  if (format.startsWith("i")) return bytes;
  const words = new DataView(bytes.buffer);
  const set = (i: number, value: number) =>
    format === "f32" ? words.setFloat32(4 * i, value, true) : words.setFloat64(8 * i, value, true);
  for (let i = 0; i < count; i++) set(i, i % 7 === 0 ? -0 : (random(2000) - 1000) / (1 + random(90)));
  if (count > 30) set(count - 9, Number.POSITIVE_INFINITY);
  if (count > 30) set(count - 5, Number.NaN);
  return bytes;
}

/** Engines may choose the bits of a NaN that arithmetic gives. */
function withOneNaN(bytes: Uint8Array, format: NumberFormat): Uint8Array {
  if (format.startsWith("i")) return bytes;
  const numbers = format === "f32" ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
  numbers.forEach((value, i) => {
    if (Number.isNaN(value)) numbers[i] = Number.NaN;
  });
  return bytes;
}

describe.each(NUMBER_FORMATS)("numbers in the format %s", (format, size) => {
  test.each(COUNTS)("%i numbers: both kernels give the same, and nothing beside it", (count) => {
    const bytes = noise(format, size, count);
    const results = bothKernels.map(([, kernels]) => {
      const { bytes: target, check } = guarded(bytes.length);
      kernels.deltaEncode(bytes, target, format);
      const encoded = withOneNaN(target.slice(), format);
      kernels.deltaDecode(target, format);
      const decoded = withOneNaN(target.slice(), format);
      check();
      return { encoded, decoded };
    });
    expectSame(results[0]?.encoded, results[1]?.encoded ?? bytes);
    expectSame(results[0]?.decoded, results[1]?.decoded ?? bytes);
    if (format.startsWith("i")) expectSame(results[0]?.decoded, bytes);
  });
});

test.each(bothKernels)("%s: differences are what they say, and sums run from the left", (_, kernels) => {
  const numbers = Int16Array.of(300, 301, 299, -32_768, 32_767);
  const target = new Int16Array(5);
  kernels.deltaEncode(new Uint8Array(numbers.buffer), new Uint8Array(target.buffer), "i16");
  expect([...target]).toEqual([300, 1, -2, 32_469, -1]);
  const floats = Float32Array.of(1e8, 1, 1, -1e8);
  kernels.deltaDecode(new Uint8Array(floats.buffer), "f32");
  expect([...floats]).toEqual([1e8, 1e8, 1e8, 0]);
  const zero = Float64Array.of(-0, -0, 0);
  kernels.deltaDecode(new Uint8Array(zero.buffer), "f64");
  expect([...zero]).toEqual([-0, -0, 0]);
});

test("the first number keeps its bits, whatever number it is", () => {
  const bytes = Uint8Array.of(1, 0, 0xa0, 0x7f, 0, 0, 0x80, 0x3f);
  for (const kernels of [wasmKernels, plainKernels]) {
    const target = new Uint8Array(8);
    kernels.deltaEncode(bytes, target, "f32");
    expect([...target.subarray(0, 4)]).toEqual([1, 0, 0xa0, 0x7f]);
    kernels.deltaDecode(target, "f32");
    expect([...target.subarray(0, 4)]).toEqual([1, 0, 0xa0, 0x7f]);
  }
});
