// @module-tag sampled
// @module-tag slow
import { compress, decompress, isLoaded } from "@foxglove/wasm-zstd";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { samples } from "../../support/samples.ts";
import { chunkBytes, expectSame, guarded, randomNumbers } from "../support.ts";
import { wasmKernels } from "./kernel-pair.ts";
import { INPUTS } from "./zstd-inputs.ts";

// The twin: zstd itself, in WebAssembly.
beforeAll(() => isLoaded);

const LEVELS = [-40, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9];
/** Those of which the size is held against the twin's; the fourth has another search than the library's. */
const HELD = { 1: 1.015, 2: 1.015, 3: 1.015, 5: 1.03, 6: 1.03, 7: 1.03, 8: 1.03, 9: 1.03 };

/** A frame by the kernels, which both they and the twin decode. */
function encoded(bytes: Uint8Array, level: number, checksum = false): Uint8Array {
  const { bytes: target, check } = guarded(bytes.length + (bytes.length >>> 8) + 512);
  const size = wasmKernels.zstd?.encode(bytes, target, level, checksum) ?? 0;
  expect(size).toBeGreaterThan(0);
  const frame = target.slice(0, size);
  check();
  expectSame(decompress(frame, bytes.length), bytes);
  const back = guarded(bytes.length);
  expect(wasmKernels.zstd?.decode(frame, back.bytes)).toBe(bytes.length);
  expectSame(back.bytes, bytes);
  back.check();
  return frame;
}

describe.each(Object.entries(INPUTS))("%s", (_, bytes) => {
  test.each(LEVELS)("at level %i is read by the twin", (level) => {
    const size = encoded(bytes, level).length;
    expect(encoded(bytes, level, true).length).toBe(size + 4);
  });

  test.each(Object.entries(HELD))("at level %i is hardly longer than the twin's", (level, most) => {
    const theirs = compress(bytes, Number(level)).length;
    expect(encoded(bytes, Number(level)).length).toBeLessThanOrEqual(theirs * most + 20);
  });
});

test("levels above the last are as the last", () => {
  const bytes = INPUTS.text ?? new Uint8Array(0);
  expectSame(encoded(bytes, 22), encoded(bytes, 9));
});

test("all that is like chunks", () => {
  fc.assert(
    fc.property(chunkBytes(30_000), fc.constantFrom(...LEVELS), fc.boolean(), (bytes, level, checksum) => {
      encoded(bytes, level, checksum);
    }),
    { numRuns: samples(300) },
  );
});

test("lengths around those where headers and blocks change", () => {
  const random = randomNumbers(8);
  const borders = [1, 5, 16, 63, 64, 255, 256, 1024, 4096, 16_384, 65_791, 65_792, 131_072, 262_144];
  for (const length of borders.flatMap((border) => [border - 1, border, border + 1])) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i % 37) + random(3));
    for (const level of [1 + random(3), 4 + random(6)]) encoded(bytes, level);
  }
});

test("literals of all skews: few symbols and many, equal and not", () => {
  const random = randomNumbers(4);
  for (let symbols = 1; symbols <= 256; symbols += symbols < 20 ? 1 : 13) {
    for (const power of [1, 2, 6]) {
      const bytes = Uint8Array.from(
        { length: 100 + random(3000) },
        () => symbols * (random(1e6) / 1e6) ** power,
      );
      encoded(bytes, 1);
    }
  }
});

test("a frame after another finds nothing of it", () => {
  const random = randomNumbers(9);
  const bytes = Uint8Array.from({ length: 40_000 }, () => random(256));
  for (const level of LEVELS) {
    const before = encoded(bytes, level).length;
    expect(encoded(bytes, level).length).toBe(before);
    expect(before).toBeGreaterThan(bytes.length);
  }
});

test("places run out, and are given out anew", () => {
  const random = randomNumbers(10);
  const bytes = Uint8Array.from({ length: 3 * 1024 * 1024 }, (_, i) => (i >> 9) * 31 + random(2));
  for (let round = 0; round < 7; round++) for (const level of [1, 3]) encoded(bytes, level);
});

test("a frame after one of which the places ran out", () => {
  const random = randomNumbers(11);
  const words = Array.from({ length: 64 }, () => Uint8Array.from({ length: 24 }, () => random(256)));
  const long = new Uint8Array(24 * 900_000);
  for (let at = 0; at < long.length; at += 24) long.set(words[random(64)] ?? [], at);
  for (const level of [1, 3]) {
    encoded(long, level);
    for (let start = 0; start < 8; start++) {
      encoded(long.subarray(24 * 5000 * start, 24 * 5000 * (start + 8)), level);
    }
  }
});

test("frames with a window read no farther back than it", () => {
  const random = randomNumbers(6);
  const phrase = Uint8Array.from({ length: 60_000 }, () => random(256));
  const bytes = new Uint8Array(5 * 1024 * 1024);
  for (const start of [0, 1_500_000, 3_500_000, 2_097_152 + 3_000_000]) bytes.set(phrase, start);
  for (const level of LEVELS) encoded(bytes, level);
});

test("nothing is written where the frame does not fit", () => {
  const bytes = INPUTS.text?.subarray(0, 4000) ?? new Uint8Array(0);
  const size = encoded(bytes, 3).length;
  for (const room of [0, 1, 10, size - 1]) {
    const { bytes: target, check } = guarded(room);
    expect(wasmKernels.zstd?.encode(bytes, target, 3, false)).toBe(0);
    check();
  }
});
