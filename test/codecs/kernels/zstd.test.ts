// @module-tag sampled
// @module-tag slow
import { compress, decompress, isLoaded } from "@foxglove/wasm-zstd";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { WasmMemory } from "../../../src/codecs/kernels/wasm-memory.ts";
import { samples } from "../../support/samples.ts";
import { chunkBytes, expectSame, guarded, randomNumbers } from "../support.ts";
import { wasmKernels } from "./kernel-pair.ts";

// The twin: zstd itself, in WebAssembly.
beforeAll(() => isLoaded);

const random = randomNumbers(31);
const words = Array.from({ length: 500 }, () => Math.floor(random(2 ** 31)).toString(36));
const text = Buffer.from(Array.from({ length: 60_000 }, () => words[random(random(500) + 1)]).join(" "));
const floats = Float32Array.from({ length: 100_000 }, (_, i) => Math.round(Math.sin(i / 300) * 500));
/** Bytes that make the blocks of zstd differ: literals only, matches only, runs, tables that are used again. */
const INPUTS = {
  none: new Uint8Array(0),
  one: Uint8Array.of(7),
  noise: Uint8Array.from({ length: 70_000 }, () => random(256)),
  runs: Uint8Array.from({ length: 300_000 }, (_, i) => i >> 12),
  skewed: Uint8Array.from({ length: 150_000 }, () => Math.clz32(1 + random(2 ** 31))),
  sparse: Uint8Array.from({ length: 300_000 }, () => (random(50) === 0 ? random(256) : 0)),
  floats: new Uint8Array(floats.buffer),
  text,
  repeats: Uint8Array.from({ length: 200_000 }, (_, i) => (i % 4001) * 7 + (i % 977 === 0 ? random(9) : 0)),
};

const LEVELS = [-40, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9];
/** Those of which the size is held against the twin's; the fourth has another search than the library's. */
const HELD = new Map([1, 2, 3, 5, 6, 7, 8, 9].map((level) => [level, level < 4 ? 1.015 : 1.03]));

function decoded(frame: Uint8Array, size: number): Uint8Array | undefined {
  const { bytes, check } = guarded(size);
  const written = wasmKernels.zstd.decode(frame, bytes);
  check();
  return written === -1 ? undefined : bytes.slice(0, written);
}

/** A frame by the kernels, which both they and the twin decode. */
function encoded(bytes: Uint8Array, level: number, checksum = false): Uint8Array {
  const { bytes: target, check } = guarded(bytes.length + (bytes.length >>> 8) + 512);
  const size = wasmKernels.zstd.encode(bytes, target, level, checksum) ?? 0;
  expect(size).toBeGreaterThan(0);
  const frame = target.slice(0, size);
  check();
  expectSame(decompress(frame, bytes.length), bytes);
  expectSame(decoded(frame, bytes.length), bytes);
  return frame;
}

describe.each(Object.entries(INPUTS))("%s", (_, bytes) => {
  test.each([-50, -1, 1, 2, 3, 5, 9, 13, 19])("of the twin, at level %i, is read", (level) => {
    const frame = compress(bytes, level);
    for (const room of [0, 100]) expectSame(decoded(frame, bytes.length + room), bytes);
    if (bytes.length > 0) expect(decoded(frame, bytes.length - 1)).toBeUndefined();
  });

  test.each(LEVELS)("at level %i is read by the twin, and hardly longer than the twin's", (level) => {
    const size = encoded(bytes, level).length;
    expect(encoded(bytes, level, true).length).toBe(size + 4);
    const theirs = compress(bytes, level).length;
    expect(size).toBeLessThanOrEqual(theirs * (HELD.get(level) ?? Number.POSITIVE_INFINITY) + 20);
  });
});

test("all that is like chunks", () => {
  const levels = fc.tuple(fc.constantFrom(...LEVELS), fc.integer({ min: -7, max: 19 }));
  fc.assert(
    fc.property(chunkBytes(30_000), levels, fc.boolean(), (bytes, [ours, theirs], checksum) => {
      encoded(bytes, ours, checksum);
      expectSame(decoded(compress(bytes, theirs), bytes.length), bytes);
    }),
    { numRuns: samples(300) },
  );
});

test("no cut frame is whole, and a checksum is held against the content", () => {
  for (const [name, level] of [["text", 3] as const, ["floats", 1] as const, ["skewed", 1] as const]) {
    const bytes = INPUTS[name].subarray(0, 3000);
    const frame = compress(bytes, level);
    for (let length = 0; length < frame.length; length++) {
      expect(decoded(frame.subarray(0, length), bytes.length)).toBeUndefined();
    }
    const checked = encoded(bytes, level, true);
    expect(decoded(checked.with(-1, (checked.at(-1) ?? 0) ^ 1), bytes.length)).toBeUndefined();
  }
});

test("changed frames keep within both buffers, and give nothing but whole content", () => {
  const memory = new WasmMemory();
  const numbers = randomNumbers(3);
  const [GUARD, SLACK] = [0xa5, 64]; // so far behind a buffer in its own memory a kernel may go
  const whole = new Uint8Array(GUARD).fill(GUARD);
  for (const bytes of Object.values(INPUTS).map((all) => all.subarray(0, 2000))) {
    for (const frame of [1, 3, 9].map((level) => compress(bytes, level))) {
      for (let round = 0; round < samples(600); round++) {
        const changed = frame.slice();
        for (let change = numbers(3); change >= 0; change--)
          changed[5 + numbers(changed.length - 5)] = numbers(256);
        const room = bytes.length + numbers(50);
        const places = memory.allocate(GUARD, changed.length, GUARD, room, GUARD);
        const [before = 0, from = 0, between = 0, to = 0, after = 0] = places;
        for (const place of [before, between, after]) memory.bytes.set(whole, place);
        memory.bytes.fill(GUARD, from + changed.length + SLACK, between);
        memory.bytes.set(changed, from);
        const written = memory.exports.zstdDecode(from, from + changed.length, to, to + room);
        expect(written).toBeLessThanOrEqual(room);
        for (const place of [before, between, after])
          expectSame(memory.bytes.subarray(place, place + GUARD), whole);
        expectSame(memory.bytes.subarray(from, from + changed.length), changed);
      }
    }
  }
});

test("lengths around those where headers and blocks change", () => {
  const borders = [1, 5, 16, 63, 64, 255, 256, 1024, 4096, 16_384, 65_791, 65_792, 131_072, 262_144];
  for (const length of borders.flatMap((border) => [border - 1, border, border + 1])) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i % 37) + random(3));
    for (const level of [1 + random(3), 4 + random(6)]) encoded(bytes, level);
  }
});

test("literals of all skews: few symbols and many, equal and not", () => {
  for (let symbols = 1; symbols <= 256; symbols += symbols < 20 ? 1 : 13) {
    for (const power of [1, 2, 6]) {
      const next = () => symbols * (random(1e6) / 1e6) ** power;
      encoded(Uint8Array.from({ length: 100 + random(3000) }, next), 1);
    }
  }
});

test("a frame after another finds nothing of it, and levels above the last are as the last", () => {
  const bytes = Uint8Array.from({ length: 40_000 }, () => random(256));
  for (const level of LEVELS) {
    const before = encoded(bytes, level).length;
    expect(encoded(bytes, level).length).toBe(before);
    expect(before).toBeGreaterThan(bytes.length);
  }
  expectSame(encoded(text, 22), encoded(text, 9));
});

test("places run out, and are given out anew", () => {
  const bytes = Uint8Array.from({ length: 3 * 1024 * 1024 }, (_, i) => (i >> 9) * 31 + random(2));
  for (let round = 0; round < 7; round++) for (const level of [1, 3]) encoded(bytes, level);
});

test("a frame after one of which the places ran out", () => {
  const phrases = Array.from({ length: 64 }, () => Uint8Array.from({ length: 24 }, () => random(256)));
  const long = new Uint8Array(24 * 900_000);
  for (let at = 0; at < long.length; at += 24) long.set(phrases[random(64)] ?? [], at);
  for (const level of [1, 3]) {
    encoded(long, level);
    for (let start = 0; start < 8; start++)
      encoded(long.subarray(24 * 5000 * start, 24 * 5000 * (start + 8)), level);
  }
});

test("frames with a window read no farther back than it", () => {
  const phrase = Uint8Array.from({ length: 60_000 }, () => random(256));
  const bytes = new Uint8Array(5 * 1024 * 1024);
  for (const start of [0, 1_500_000, 3_500_000, 2_097_152 + 3_000_000]) bytes.set(phrase, start);
  for (const level of LEVELS) encoded(bytes, level);
});

test("nothing is written where the frame does not fit", () => {
  const bytes = text.subarray(0, 4000);
  for (const room of [0, 1, 10, encoded(bytes, 3).length - 1]) {
    const { bytes: target, check } = guarded(room);
    expect(wasmKernels.zstd.encode(bytes, target, 3, false)).toBe(0);
    check();
  }
});
