// @module-tag slow
// @module-tag sampled
import { compress, isLoaded } from "@foxglove/wasm-zstd";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { WasmMemory } from "../../../src/codecs/kernels/wasm-memory.ts";
import { wordsOf } from "../../../src/codecs/kernels/words.ts";
import { samples } from "../../support/samples.ts";
import { chunkBytes, expectSame, guarded, randomNumbers } from "../support.ts";
import { wasmKernels } from "./kernel-pair.ts";
import { xxh64 } from "./plain-xxh64.ts";
import { INPUTS } from "./zstd-inputs.ts";

// The twin: zstd itself, in WebAssembly.
beforeAll(() => isLoaded);

const GUARD = 0xa5;
/** How far behind a buffer in its own memory a kernel may go. */
const SLACK = 64;

function decoded(frame: Uint8Array, size: number): Uint8Array | undefined {
  const { bytes, check } = guarded(size);
  const written = wasmKernels.zstd?.decode(frame, bytes) ?? -1;
  check();
  return written === -1 ? undefined : bytes.slice(0, written);
}

describe.each(Object.entries(INPUTS))("%s", (_, bytes) => {
  test.each([-50, -1, 1, 2, 3, 5, 9, 13, 19])("of level %i", (level) => {
    const frame = compress(bytes, level);
    expectSame(decoded(frame, bytes.length), bytes);
    expectSame(decoded(frame, bytes.length + 100), bytes);
    if (bytes.length > 0) expect(decoded(frame, bytes.length - 1)).toBeUndefined();
  });
});

test("all that is like chunks", () => {
  fc.assert(
    fc.property(chunkBytes(20_000), fc.integer({ min: -7, max: 19 }), (bytes, level) => {
      expectSame(decoded(compress(bytes, level), bytes.length), bytes);
    }),
    { numRuns: samples(200) },
  );
});

test("a checksum is held against the content", () => {
  const bytes = INPUTS.text?.subarray(0, 5000) ?? new Uint8Array(0);
  const plain = compress(bytes, 3);
  const frame = new Uint8Array(plain.length + 4);
  frame.set(plain);
  frame[4] = (frame[4] ?? 0) | 4;
  wordsOf(frame).setUint32(plain.length, Number(xxh64(bytes) & 0xffff_ffffn), true);
  expectSame(decoded(frame, bytes.length), bytes);
  frame[frame.length - 1] = (frame[frame.length - 1] ?? 0) ^ 1;
  expect(decoded(frame, bytes.length)).toBeUndefined();
});

test("no cut frame is whole", () => {
  for (const [name, level] of [["text", 3] as const, ["floats", 1] as const, ["skewed", 1] as const]) {
    const bytes = INPUTS[name]?.subarray(0, 3000) ?? new Uint8Array(0);
    const frame = compress(bytes, level);
    for (let length = 0; length < frame.length; length++) {
      expect(decoded(frame.subarray(0, length), bytes.length)).toBeUndefined();
    }
  }
});

test("changed frames keep within both buffers, and give nothing but whole content", () => {
  const memory = new WasmMemory();
  const numbers = randomNumbers(3);
  const frames = Object.values(INPUTS).flatMap((bytes) =>
    [1, 3, 9].map((level) => ({ size: Math.min(bytes.length, 2000), level, bytes })),
  );
  for (const { size, level, bytes } of frames) {
    const frame = compress(bytes.subarray(0, size), level);
    for (let round = 0; round < 400; round++) {
      const changed = frame.slice();
      for (let change = numbers(3); change >= 0; change--)
        changed[5 + numbers(changed.length - 5)] = numbers(256);
      const room = size + numbers(50);
      const places = memory.allocate(GUARD, changed.length, GUARD, room, GUARD);
      const [before = 0, from = 0, between = 0, to = 0, after = 0] = places;
      for (const place of [before, between, after]) memory.bytes.fill(GUARD, place, place + GUARD);
      memory.bytes.fill(GUARD, from + changed.length + SLACK, between);
      memory.bytes.set(changed, from);
      const written = memory.exports.zstdDecode(from, from + changed.length, to, to + room);
      expect(written).toBeLessThanOrEqual(room);
      for (const place of [before, between, after]) {
        expect(memory.bytes.subarray(place, place + GUARD).every((byte) => byte === GUARD)).toBe(true);
      }
      expectSame(memory.bytes.subarray(from, from + changed.length), changed);
    }
  }
});
