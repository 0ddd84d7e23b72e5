// @module-tag sampled
// @module-tag slow
import { inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { adler32 } from "../../../src/codecs/kernels/adler32.ts";
import { joinBits, splitBits } from "../../../src/codecs/kernels/bit-shuffle.ts";
import { fletcher32, lookup3 } from "../../../src/codecs/kernels/checksums.ts";
import { copyBox, type Loop, transposeTiles } from "../../../src/codecs/kernels/copy-box.ts";
import { inflatePacked } from "../../../src/codecs/kernels/inflate-packed.ts";
import type { BlockLayout, NumberFormat, TransposeKernel } from "../../../src/codecs/kernels/kernel-types.ts";
import { swapBytes, wordView } from "../../../src/codecs/kernels/swap-bytes.ts";
import { packedWasm as codecs } from "../../../src/codecs/kernels/wasm-bytes/codecs.ts";
import { packedWasm as reading } from "../../../src/codecs/kernels/wasm-bytes/reading.ts";
import { samples } from "../../support/samples.ts";
import { expectSame, guarded, randomNumbers } from "../support.ts";
import { wasmKernels } from "./kernel-pair.ts";
import { crc32c, plainKernels } from "./plain-kernels.ts";

const random = randomNumbers(5);
const noise = (length: number) => Uint8Array.from({ length }, () => random(256));
const numbered = (length: number) => Uint8Array.from({ length }, (_, i) => i * 31 + (i >> 8) * 7 + (i >> 16));
const ofText = (text: string) => new TextEncoder().encode(text);
const BOTH = [
  ["the kernel", wasmKernels],
  ["its twin", plainKernels],
] as const;

test.each(Object.entries({ reading, codecs }))(
  "the kernels of %s are inflated as Node does",
  (_, { base64, size }) => {
    const packed = Buffer.from(base64, "base64");
    const inflated = inflatePacked(packed, size);
    expectSame(inflated, inflateRawSync(packed));
    expect(WebAssembly.validate(inflated)).toBe(true);
  },
);

describe("checksums", () => {
  test.each<[string, (bytes: Uint8Array) => number, string, number]>([
    ["Adler-32", adler32, "", 1],
    ["Adler-32", adler32, "Wikipedia", 0x11e6_0398],
    // as numcodecs writes them
    ["Fletcher-32", fletcher32, "", 0],
    ["Fletcher-32", fletcher32, "a", 0x6100_6100],
    ["Fletcher-32", fletcher32, "abcdef", 0x5056_2a2d],
    ["Fletcher-32", fletcher32, "abcdefg", 0xe183_912d],
    // as their authors have them
    ["lookup3", (bytes) => lookup3(bytes, 0), "", 0xdeadbeef],
    ["lookup3", (bytes) => lookup3(bytes, 0), "Four score and seven years ago", 0x17770551],
    ["lookup3 from 1", (bytes) => lookup3(bytes, 1), "Four score and seven years ago", 0xcd628161],
    ["CRC-32C", crc32c, "123456789", 0xe306_9283],
  ])("%s of %j, anywhere in memory", (_, checksum, text, sum) => {
    expect(checksum(ofText(text))).toBe(sum);
    expect(checksum(ofText(`xxx${text}yy`).subarray(3, -2))).toBe(sum);
  });

  test("do not overflow on the largest bytes", () => {
    const bytes = new Uint8Array(100_001).fill(255);
    let [a, b] = [1n, 0n];
    for (const byte of bytes) {
      a = (a + BigInt(byte)) % 65_521n;
      b = (b + a) % 65_521n;
    }
    expect(BigInt(adler32(bytes))).toBe((b << 16n) | a);
    expect(fletcher32(bytes)).toBe(0xff00_ff00);
  });

  test("CRC-32C is equal at any length", () => {
    for (const length of [...Array.from({ length: 70 }, (_, i) => i), 65_535, 65_536, 65_537, 200_003]) {
      const bytes = noise(length + (length % 3)).subarray(length % 3);
      expect(wasmKernels.crc32c(bytes)).toBe(crc32c(bytes));
    }
  });
});

test.each(Array.from({ length: 70 }, (_, i) => i + 1))(
  "shuffles of items of %i bytes are equal",
  (itemSize) => {
    for (const items of [0, 1, 2, 15, 16, 17, 33, 100, 200 + random(100), Math.ceil(70_000 / itemSize)]) {
      const bytes = noise(items * itemSize + random(itemSize));
      const [planes, back] = [guarded(bytes.length), guarded(bytes.length)];
      const expected = new Uint8Array(bytes.length);
      wasmKernels.shuffle(bytes, planes.bytes, itemSize);
      plainKernels.shuffle(bytes, expected, itemSize);
      expectSame(planes.bytes, expected);
      wasmKernels.unshuffle(planes.bytes, back.bytes, itemSize);
      expectSame(back.bytes, bytes);
      for (const { check } of [planes, back]) check();
    }
  },
);

test.each([1, 2, 3, 4, 8, 16])("%i planes split into bits and come back, at the stated places", (planes) => {
  for (const items of [8, 16, 24, 64, 136]) {
    const bytes = noise(planes * items + 3);
    const [bits, back] = [guarded(planes * items + 7), guarded(planes * items + 3)];
    splitBits(bytes, 3, bits.bytes, 5, planes, items);
    const expected = new Uint8Array(bits.bytes.length).fill(0x5a);
    expected.set(plainBits(bytes.subarray(3), planes, items), 5);
    expectSame(bits.bytes, expected);
    joinBits(bits.bytes, 5, back.bytes, 3, planes, items);
    expectSame(back.bytes.subarray(3), bytes.subarray(3));
    expectSame(back.bytes.subarray(0, 3), new Uint8Array(3).fill(0x5a));
    for (const { check } of [bits, back]) check();
  }
});

/** By the definition: for each plane of bytes 8 of bits, the least bit first, packed the first item lowest. */
function plainBits(bytes: Uint8Array, planes: number, items: number): Uint8Array {
  const packed = new Uint8Array(planes * items);
  for (let p = 0; p < planes; p++) {
    for (let i = 0; i < items; i++) {
      for (let bit = 0; bit < 8; bit++) {
        const at = p * items + (bit * items) / 8 + (i >> 3);
        packed[at] = (packed[at] ?? 0) | ((((bytes[p * items + i] ?? 0) >> bit) & 1) << (i & 7));
      }
    }
  }
  return packed;
}

test.each([2, 4, 8])("units of %i bytes are swapped alike, and nothing beside the range", (unit) => {
  for (const units of [0, 1, 2, 3, 5, 7, 8, 9, 100, 65_536 / unit, 65_536 / unit + 1, 50_000]) {
    const given = noise(units * unit + 4);
    const expected = given.slice();
    for (let i = 3; i < 3 + units * unit; i += unit) expected.subarray(i, i + unit).reverse();
    const swapped = given.slice();
    swapBytes(wordView(swapped), 3, 3 + units * unit, unit);
    expectSame(swapped, expected);
    const { bytes, check } = guarded(units * unit);
    bytes.set(given.subarray(3, -1));
    wasmKernels.swapBytes(bytes, unit);
    expectSame(bytes, expected.subarray(3, -1));
    check();
  }
});

describe("differences", () => {
  /** Numbers in whole lanes, also some that are none, endless, of negative zero. */
  function numbers(format: NumberFormat, count: number): Uint8Array {
    if (format.startsWith("i")) return noise((count * Number(format.slice(1))) / 8);
    const floats = format === "f32" ? new Float32Array(count) : new Float64Array(count);
    for (let i = 0; i < count; i++) floats[i] = i % 7 === 0 ? -0 : (random(2000) - 1000) / (1 + random(90));
    if (count > 30) floats.set([Number.POSITIVE_INFINITY, 1, 2, 3, Number.NaN], count - 9);
    return new Uint8Array(floats.buffer);
  }

  /** Engines may choose the bits of a NaN that arithmetic gives. */
  function withOneNaN(bytes: Uint8Array, format: NumberFormat): Uint8Array {
    if (format.startsWith("i")) return bytes;
    const floats = new (format === "f32" ? Float32Array : Float64Array)(bytes.buffer as ArrayBuffer);
    for (const [i, value] of floats.entries()) if (Number.isNaN(value)) floats[i] = Number.NaN;
    return bytes;
  }

  test.each<NumberFormat>(["i8", "i16", "i32", "i64", "f32", "f64"])(
    "of numbers in the format %s are the same by both kernels, which write nothing beside them",
    (format) => {
      for (const count of [0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 100, 8192, 8193, 16_385, 65_537]) {
        const bytes = numbers(format, count);
        const [ours, theirs] = BOTH.map(([, kernels]) => {
          const { bytes: target, check } = guarded(bytes.length);
          kernels.deltaEncode(bytes, target, format);
          const encoded = withOneNaN(target.slice(), format);
          kernels.deltaDecode(target, format);
          const decoded = withOneNaN(target.slice(), format);
          check();
          return { encoded, decoded };
        });
        expectSame(ours?.encoded, theirs?.encoded ?? bytes);
        expectSame(ours?.decoded, theirs?.decoded ?? bytes);
        if (format.startsWith("i")) expectSame(ours?.decoded, bytes);
      }
    },
  );

  test.each(BOTH)(
    "by %s are what they say, sums run from the left, and the first number keeps its bits",
    (_, kernels) => {
      const target = new Int16Array(5);
      const shorts = Int16Array.of(300, 301, 299, -32_768, 32_767);
      kernels.deltaEncode(new Uint8Array(shorts.buffer), new Uint8Array(target.buffer), "i16");
      expect([...target]).toEqual([300, 1, -2, 32_469, -1]);
      const floats = Float32Array.of(1e8, 1, 1, -1e8);
      kernels.deltaDecode(new Uint8Array(floats.buffer), "f32");
      expect([...floats]).toEqual([1e8, 1e8, 1e8, 0]);
      const zero = Float64Array.of(-0, -0, 0);
      kernels.deltaDecode(new Uint8Array(zero.buffer), "f64");
      expect([...zero]).toEqual([-0, -0, 0]);
      const bits = new Uint8Array(8);
      kernels.deltaEncode(Uint8Array.of(1, 0, 0xa0, 0x7f, 0, 0, 0x80, 0x3f), bits, "f32");
      expect([...bits.subarray(0, 4)]).toEqual([1, 0, 0xa0, 0x7f]);
      kernels.deltaDecode(bits, "f32");
      expect([...bits.subarray(0, 4)]).toEqual([1, 0, 0xa0, 0x7f]);
    },
  );
});

describe("blocks of blosc", () => {
  const { blocks } = wasmKernels;
  const layouts = fc.record({
    inner: fc.constantFrom("blosclz", "lz4", "zstd"),
    mode: fc.constantFrom("noshuffle" as const, "shuffle" as const, "bitshuffle" as const),
    itemSize: fc.oneof(fc.integer({ min: 1, max: 32 }), fc.constantFrom(2, 4, 8, 16, 64, 255)),
    isSplit: fc.boolean(),
    units: fc.integer({ min: 1, max: 400 }),
  });

  test("are decoded to what was encoded, within bounds", () => {
    fc.assert(
      fc.property(layouts, fc.nat(1e6), ({ inner, mode, itemSize, isSplit, units }, seed) => {
        const layout: BlockLayout = { inner, mode, itemSize, streams: isSplit ? itemSize : 1 };
        const random = randomNumbers(seed);
        const bytes = Uint8Array.from({ length: units * 8 * itemSize }, (_, i) => i / itemSize + random(3));
        const encoded = guarded(bytes.length + 4 * layout.streams);
        const size = blocks.encode(bytes, encoded.bytes, layout, 1) ?? 0;
        expect(size).toBeGreaterThan(0);
        const block = encoded.bytes.subarray(0, size);
        const start = random(bytes.length);
        for (const [from, length] of [
          [0, bytes.length],
          [start, 1 + random(bytes.length - start)],
        ] as const) {
          const part = guarded(length);
          expect(blocks.decode(block, part.bytes, layout, bytes.length, from)).toBe(true);
          expectSame(part.bytes, bytes.subarray(from, from + length));
          part.check();
        }
        encoded.check();
      }),
      { numRuns: samples(150) },
    );
  });

  test.each(["blosclz", "lz4", "zstd"])("of %s that do not fit are given up", (inner) => {
    const bytes = noise(4000);
    const layout: BlockLayout = { inner, mode: "shuffle", itemSize: 4, streams: 4 };
    for (const room of [0, 3, 4, 5, 1000, 1004, 4015]) {
      const { bytes: target, check } = guarded(room);
      expect(blocks.encode(bytes, target, layout, 3)).toBe(0);
      check();
    }
    expect(blocks.encode(bytes, new Uint8Array(4016), layout, 3)).toBe(4016);
  });
});

describe.each([1, 2, 4, 8])("rows of items of %i bytes", (itemSize) => {
  const transpose = wasmKernels.transpose as TransposeKernel;
  const turned = (source: Uint8Array, rows: number, columns: number): Uint8Array => {
    const target = new Uint8Array(source.length);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const start = (row * columns + column) * itemSize;
        target.set(source.subarray(start, start + itemSize), (column * rows + row) * itemSize);
      }
    }
    return target;
  };

  test.each([
    [32, 32],
    [16, 61],
    [61, 16],
    [33, 47],
    [127, 130],
    [3000, 17],
    [17, 3000],
    [1024, 80],
    [300, 301],
  ])("become columns by the kernel, %i rows of %i, and nothing else is touched", (rows, columns) => {
    const source = numbered(rows * columns * itemSize);
    const { bytes, check } = guarded(source.length);
    expect(transpose(source, bytes, rows, columns, itemSize)).toBe(true);
    expectSame(bytes, turned(source, rows, columns));
    expectSame(source, numbered(source.length));
    check();
  });

  test("become columns by copyBox in either order of the dimensions, at any place", () => {
    const [rows, columns] = [50, 35];
    const source = numbered((rows * columns + 6) * itemSize);
    for (const isTurned of [false, true]) {
      const { bytes, check } = guarded((rows * columns + 3) * itemSize);
      const expected = bytes.slice();
      expected.set(turned(source.subarray(5 * itemSize, -itemSize), rows, columns), 2 * itemSize);
      const order = (values: readonly number[]) => (isTurned ? values.toReversed() : values);
      const [from, to] = [order([columns, 1]), order([1, rows])];
      const shape = order([rows, columns]);
      copyBox(source, { offset: 5, strides: from }, bytes, { offset: 2, strides: to }, shape, itemSize);
      expectSame(bytes, expected);
      check();
    }
  });
});

test.each([
  ["items of other sizes", 64, 64, 3],
  ["wide items", 64, 64, 16],
  ["fewer rows than a tile", 3, 400, 4],
  ["fewer columns than a tile", 900, 15, 1],
  ["little", 10, 10, 4],
  ["more than stays in the caches", 2048, 1024, 8],
])("%s are left alone by the kernel that turns rows", (_, rows, columns, itemSize) => {
  const size = rows * columns * itemSize;
  const { bytes, check } = guarded(size);
  expect(wasmKernels.transpose?.(new Uint8Array(size), bytes, rows, columns, itemSize)).toBe(false);
  expectSame(bytes, new Uint8Array(size).fill(0x5a));
  check();
});

test.each([1, 2, 3, 4])("tiles of items of %i words are turned, in either order of the loops", (width) => {
  for (const [rows, columns, apart] of [
    [1, 1, 0],
    [4, 4, 0],
    [5, 7, 0],
    [31, 33, 0],
    [32, 64, 0],
    [66, 35, 0],
    [5, 4, 3],
  ] as const) {
    // Rows lie a little apart on both sides, and items do, too, if so stated.
    const [fromItem, toItem] = [width + apart, width + 2 * apart];
    const [fromRow, toRow] = [columns * fromItem + 3, rows * toItem + 2];
    const source = Uint32Array.from({ length: rows * fromRow + 5 }, (_, i) => i * 2_654_435_761);
    const expected = new Uint32Array(columns * toRow + 9);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const from = 5 + row * fromRow + column * fromItem;
        expected.set(source.subarray(from, from + width), 7 + column * toRow + row * toItem);
      }
    }
    const along: Loop = { count: columns, from: fromItem, to: toRow };
    const across: Loop = { count: rows, from: fromRow, to: toItem };
    for (const loops of [[along, across] as const, [across, along] as const]) {
      const target = new Uint32Array(expected.length);
      transposeTiles(source, 5, target, 7, loops, width);
      expect(target).toEqual(expected);
    }
  }
});
