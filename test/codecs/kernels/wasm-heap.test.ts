// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BoxLayout, copyBox, copyShared, heapBox } from "../../../src/codecs/kernels/copy-box.ts";
import type {
  BlockLayout,
  HeapBox,
  NumberFormat,
  OpenHeap,
} from "../../../src/codecs/kernels/kernel-types.ts";
import { kernelsOfThread, openKernelHeap } from "../../../src/codecs/kernels/kernels.ts";
import { SLACK, WasmHeap } from "../../../src/codecs/kernels/wasm-heap.ts";
import { BufferPool } from "../../../src/streams/buffer-pool.ts";
import { intersect } from "../../../src/streams/selection.ts";
import { cStrides, product } from "../../../src/util/shape.ts";
import { samples } from "../../support/samples.ts";
import { expectSame } from "../support.ts";
import { allKernels } from "./kernel-pair.ts";
import { plainKernels } from "./plain-kernels.ts";

const kernels = kernelsOfThread(allKernels);
/** What lies behind a buffer, and stays. */
const BEHIND = new Uint8Array(300).fill(0xa5);

describe("a heap", () => {
  it("gives away buffers that never overlap, with room behind each, and knows each by any part of it", () => {
    const step = fc.record({ size: fc.integer({ min: 0, max: 20_000 }), freed: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const heap = new WasmHeap(new ArrayBuffer(256 * 1024), 5000);
        const held: Uint8Array[] = [];
        for (const { size, freed } of steps) {
          const buffer = heap.allocate(size);
          if (buffer) held.push(buffer);
          for (const one of held) expect(heap.beginOf(one.subarray(one.length >> 1))).toBe(one.byteOffset);
          const sorted = [...held].sort((a, b) => a.byteOffset - b.byteOffset);
          sorted.forEach((one, i) => {
            const next = sorted[i + 1]?.byteOffset ?? 256 * 1024;
            expect(one.byteOffset).toBeGreaterThanOrEqual(5000);
            expect(next - one.byteOffset - one.length).toBeGreaterThanOrEqual(SLACK);
          });
          const [gone] = freed % 2 === 0 ? held.splice(freed % Math.max(1, held.length), 1) : [];
          if (gone) heap.release(gone);
        }
        for (const one of held) heap.release(one);
        expect(heap.allocate(257 * 1024)).toBeUndefined();
        expect(heap.allocate(250 * 1024)?.byteOffset).toBe(5120);
      }),
    );
  });

  it("of a pool: buffers are known by any part, and the pool goes on elsewhere when the heap is full", () => {
    const heap = new WasmHeap(new ArrayBuffer(64 * 1024), 0);
    const pool = new BufferPool(1e6, { source: heap });
    const [first, second] = [pool.take(20_000), pool.take(20_000)];
    const elsewhere = pool.take(40_000);
    expect(first.buffer).toBe(heap.memory);
    expect(elsewhere.buffer).not.toBe(heap.memory);
    pool.give(second.subarray(10_000, 10_001));
    expect(pool.taken).toBe(20_480 + 40_960);
    expect(pool.take(20_000).byteOffset).toBe(second.byteOffset);
    for (const one of [first, second, elsewhere]) pool.give(one);
    expect(pool.taken).toBe(0);
    pool.clear();
    expect(heap.allocate(60_000)).toBeDefined();
  });
});

describe("kernels on buffers of the heap do what they do on others, and touch nothing beyond their room:", () => {
  let open: OpenHeap;
  beforeAll(() => {
    open = openKernelHeap() ?? expect.fail("there is no heap");
  });
  afterAll(() => open.close());

  const allocated = (size: number) => open.heap.allocate(size) ?? expect.fail("the heap is full");

  /** Runs on buffers of the heap, with bytes or so many zeros in them, and with others behind them that must stay. */
  function inHeap<const T extends readonly (Uint8Array | number)[]>(
    contents: T,
    run: (...own: { -readonly [K in keyof T]: Uint8Array }) => void,
  ): void {
    const held = contents.map((content) => {
      const bytes = typeof content === "number" ? new Uint8Array(content) : content;
      const [own, behind] = [allocated(bytes.length), allocated(BEHIND.length)];
      own.set(bytes);
      behind.set(BEHIND);
      return { own, behind };
    });
    try {
      run(...(held.map(({ own }) => own) as { -readonly [K in keyof T]: Uint8Array }));
      for (const { behind } of held) expectSame(behind, BEHIND);
    } finally {
      for (const buffer of held.flatMap(({ own, behind }) => [own, behind])) open.heap.release(buffer);
    }
  }

  const items = fc
    .record({
      length: fc.integer({ min: 0, max: 3000 }),
      seed: fc.nat(255),
      period: fc.integer({ min: 1, max: 40 }),
    })
    .map(({ length, seed, period }) => Uint8Array.from({ length }, (_, i) => seed + (i % period) * (i >> 6)));

  it("shuffles", () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 20 }), (source, itemSize) => {
        inHeap([source, source.length, source.length], (from, to, back) => {
          kernels().shuffle(from, to, itemSize);
          const expected = new Uint8Array(source.length);
          plainKernels.shuffle(source, expected, itemSize);
          expectSame(to, expected);
          kernels().unshuffle(to, back, itemSize);
          expectSame(back, source);
        });
      }),
    );
  });

  it("LZ4 and zstd, and what a hostile frame is refused for", () => {
    fc.assert(
      fc.property(items, fc.nat(), (source, cut) => {
        inHeap([source, source.length + 1000, source.length], (from, to, back) => {
          const size = kernels().lz4Encode(from, to, 1);
          if (source.length > 0) {
            expect(kernels().lz4Decode(to.subarray(0, size), back)).toBe(source.length);
            expectSame(back, source);
            kernels().lz4Decode(to.subarray(0, cut % size), back);
          }
          const frame = kernels().zstd.encode(from, to, 3, true) ?? 0;
          expect(kernels().zstd.decode(to.subarray(0, frame), back)).toBe(source.length);
          expectSame(back, source);
          kernels().zstd.decode(to.subarray(0, cut % frame), back);
        });
      }),
    );
  });

  it("blocks of blosc", () => {
    const layouts = fc.record({
      inner: fc.constantFrom("lz4", "blosclz", "zstd"),
      mode: fc.constantFrom("noshuffle" as const, "shuffle" as const, "bitshuffle" as const),
      itemSize: fc.constantFrom(2, 4, 8),
      split: fc.boolean(),
    });
    fc.assert(
      fc.property(items, layouts, (bytes, { split, ...kind }) => {
        const source = bytes.subarray(0, bytes.length - (bytes.length % (8 * kind.itemSize)));
        const { length } = source;
        if (length === 0) return;
        const layout: BlockLayout = { ...kind, streams: split ? kind.itemSize : 1 };
        const [start, end] = [length >> 2, length - (length >> 3)];
        inHeap([source, length + 64, length, end - start], (from, to, back, part) => {
          const elsewhere = new Uint8Array(length + 64);
          const effort = kind.inner === "zstd" ? 3 : 5;
          const size = kernels().blocks.encode(from, to, layout, effort) ?? 0;
          expect(kernels().blocks.encode(source, elsewhere, layout, effort)).toBe(size);
          const block = to.subarray(0, size);
          expectSame(block, elsewhere.subarray(0, size));
          if (size === 0) return;
          expect(kernels().blocks.decode(block, back, layout, length, 0)).toBe(true);
          expectSame(back, source);
          expect(kernels().blocks.decode(block, part, layout, length, start)).toBe(true);
          expectSame(part, source.subarray(start, end));
        });
      }),
    );
  });

  it("LZ4 and zstd of more than fits in front of the heap", () => {
    const size = 50 * 2 ** 20;
    const source = allocated(size);
    let word = 1;
    const period = Uint32Array.from({ length: 2 ** 16 + 7 }, () => {
      word = (Math.imul(word, 1_103_515_245) + 12_345) >>> 0;
      return word;
    });
    const bytes = new Uint8Array(period.buffer);
    for (let at = 0; at < size; at += bytes.length) source.set(bytes.subarray(0, size - at), at);
    const [frame, back] = [new Uint8Array(size + 2 ** 20), new Uint8Array(size)];
    const length = kernels().zstd.encode(source, frame.subarray(0, size), 1, false) ?? 0;
    expect(kernels().zstd.decode(frame.subarray(0, length), back)).toBe(size);
    expectSame(back, source);
    const written = kernels().lz4Encode(source, frame, 1);
    const stored = allocated(written);
    stored.set(frame.subarray(0, written));
    const part = new Uint8Array(1000);
    expect(kernels().lz4DecodePart(stored, part, size - 5000)).toBe(true);
    expectSame(part, source.subarray(size - 5000, size - 4000));
    expect(kernels().lz4Decode(stored, back)).toBe(size);
    expectSame(back, source);
    for (const buffer of [stored, source]) open.heap.release(buffer);
  });

  it("differences, sums, swaps and checksums", () => {
    fc.assert(
      fc.property(items, fc.constantFrom<NumberFormat>("i8", "i16", "i32", "i64"), (bytes, format) => {
        const unit = Number(format.slice(1)) / 8;
        const source = bytes.subarray(0, bytes.length - (bytes.length % unit));
        inHeap([source, source.length], (from, to) => {
          kernels().deltaEncode(from, to, format);
          const expected = new Uint8Array(source.length);
          plainKernels.deltaEncode(source, expected, format);
          expectSame(to, expected);
          kernels().deltaDecode(to, format);
          expectSame(to, source);
          if (unit > 1) {
            // Part of a buffer: what lies behind it is somebody's.
            const half = Math.max(0, source.length - (source.length % (2 * unit)) - unit);
            const swapped = source.slice();
            plainKernels.swapBytes(swapped.subarray(0, half), unit);
            kernels().swapBytes(to.subarray(0, half), unit);
            expectSame(to, swapped);
          }
          expect(kernels().crc32c(from)).toBe(plainKernels.crc32c(source));
        });
      }),
    );
  });

  it("copies of boxes", () => {
    const box = fc.record({
      shape: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      pad: fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
      itemSize: fc.constantFrom(1, 2, 3, 4, 7, 8, 12, 16, 70, 300),
    });
    fc.assert(
      fc.property(box, ({ shape, pad, itemSize }) => {
        const outer = shape.map((n, d) => n + (pad[d] ?? 0));
        fc.pre(product(outer) * itemSize < 500_000);
        const whole = Uint8Array.from({ length: product(outer) * itemSize }, (_, i) => i * 7 + (i >> 8));
        const layout = { offset: 0, strides: cStrides(outer) };
        const packed = { offset: 0, strides: cStrides(shape) };
        const expected = new Uint8Array(product(shape) * itemSize);
        const spread = new Uint8Array(whole.length);
        copyBox(whole, layout, expected, packed, shape, itemSize);
        copyBox(expected, packed, spread, layout, shape, itemSize);
        inHeap([whole, expected.length, whole.length], (from, to, back) => {
          copyBox(from, layout, to, packed, shape, itemSize);
          copyBox(to, packed, back, layout, shape, itemSize);
          expectSame(to, expected);
          expectSame(back, spread);
        });
      }),
    );
  });

  const joined = (boxes: readonly HeapBox[]) => new Float64Array(boxes.flatMap((box) => [...box]));

  it("copies to several boxes in one call", () => {
    const axis = fc.record({
      length: fc.integer({ min: 1, max: 7 }),
      first: fc.nat(5),
      pad: fc.nat(2),
      step: fc.constantFrom(1, 1, 2),
    });
    const place = fc.tuple(fc.nat(12), fc.integer({ min: 1, max: 6 }));
    const cuts = fc.record({
      axes: fc.array(axis, { maxLength: 5 }),
      itemSize: fc.constantFrom(1, 2, 3, 4, 8, 12, 16, 40),
      boxes: fc.array(fc.array(place, { minLength: 5, maxLength: 5 }), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(cuts, ({ axes, itemSize, boxes }) => {
        const outer = axes.map(({ length, pad, step }) => length * step + pad);
        const strides = cStrides(outer).map((stride, d) => stride * (axes[d]?.step ?? 1));
        fc.pre(strides.every((stride, d) => d === 0 || stride <= (strides[d - 1] ?? 0)));
        const region = { start: axes.map(({ first }) => first), shape: axes.map(({ length }) => length) };
        const whole = Uint8Array.from(
          { length: (1 + product(outer)) * itemSize },
          (_, i) => i * 7 + (i >> 8),
        );
        const wanted = boxes.map((places) => {
          const start = axes.map((_, d) => places[d]?.[0] ?? 0);
          const shape = axes.map((_, d) => places[d]?.[1] ?? 1);
          const packed = { offset: 0, strides: cStrides(shape) };
          const expected = new Uint8Array(product(shape) * itemSize);
          const shared = intersect(region, { start, shape });
          if (shared) {
            const placeIn = ({ offset, strides: all }: BoxLayout, first: readonly number[]) => ({
              offset: all.reduce((sum, s, d) => sum + s * ((shared.start[d] ?? 0) - (first[d] ?? 0)), offset),
              strides: all,
            });
            const layout = placeIn({ offset: 1, strides }, region.start);
            copyBox(whole, layout, expected, placeIn(packed, start), shared.shape, itemSize);
          }
          return { start, shape, packed, expected };
        });
        inHeap([whole, ...wanted.map(({ expected }) => expected.length)], (from, ...targets) => {
          const source = heapBox(from, region, { offset: 1, strides }, itemSize);
          const found = wanted.map(({ packed, ...box }, i) =>
            heapBox(targets[i] as Uint8Array, box, packed, itemSize),
          );
          expect([source, ...found]).not.toContain(undefined);
          copyShared(source as HeapBox, joined(found as HeapBox[]), itemSize);
          for (const [i, { expected }] of wanted.entries()) expectSame(targets[i], expected);
        });
      }),
      { numRuns: samples(500) },
    );
  });

  it("copies to more boxes than a call takes", () => {
    const boxOf = (bytes: Uint8Array, start: number, length: number) =>
      heapBox(bytes, { start: [start], shape: [length] }, { offset: start, strides: [1] }, 1) as HeapBox;
    inHeap([Uint8Array.from({ length: 3000 }, (_, i) => i * 13 + (i >> 8)), 3000], (from, to) => {
      const targets = Array.from({ length: 3000 }, (_, i) => boxOf(to, i, 1));
      copyShared(boxOf(from, 0, 3000), joined(targets), 1);
      expectSame(to, from);
    });
  });

  it("boxes are no others than those of the heap whose items lie in order", () => {
    const region = { start: [0, 0], shape: [3, 4] };
    const inOrder = { offset: 0, strides: [4, 1] };
    inHeap([12], (own) => {
      expect(heapBox(own, region, inOrder, 1)).toBeDefined();
      expect(heapBox(own, region, { offset: 0, strides: [1, 3] }, 1)).toBeUndefined();
      expect(heapBox(own, region, inOrder, 0)).toBeUndefined();
      expect(heapBox(new Uint8Array(12), region, inOrder, 1)).toBeUndefined();
    });
  });
});
