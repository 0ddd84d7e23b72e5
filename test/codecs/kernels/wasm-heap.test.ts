// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BoxLayout, copyBox } from "../../../src/codecs/kernels/copy-box.ts";
import { copyShared, heapBox } from "../../../src/codecs/kernels/heap-box.ts";
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
        expect(heap.allocate(250 * 1024)?.byteOffset).toBe(5120);
      }),
    );
  });

  it("says when it has no room", () => {
    const heap = new WasmHeap(new ArrayBuffer(16 * 1024), 0);
    expect(heap.allocate(17_000)).toBeUndefined();
  });
});

describe("kernels on buffers of the heap do what they do on others, and touch nothing beyond their room", () => {
  let open: OpenHeap | undefined;
  beforeAll(() => {
    open = openKernelHeap();
  });
  afterAll(() => open?.close());

  /** The bytes in a buffer of the heap, and one behind it that is held until the end. */
  function inHeap(bytes: Uint8Array): { own: Uint8Array; intact: () => void } {
    const heap = (open as OpenHeap).heap;
    const own = heap.allocate(bytes.length);
    const behind = heap.allocate(BEHIND.length);
    if (!own || !behind) throw new Error("the heap is full");
    own.set(bytes);
    behind.set(BEHIND);
    return {
      own,
      intact() {
        expect(Buffer.compare(behind, BEHIND)).toBe(0);
        heap.release(own);
        heap.release(behind);
      },
    };
  }

  const items = fc
    .record({
      length: fc.integer({ min: 0, max: 3000 }),
      seed: fc.nat(255),
      period: fc.integer({ min: 1, max: 40 }),
    })
    .map(({ length, seed, period }) => Uint8Array.from({ length }, (_, i) => seed + (i % period) * (i >> 6)));

  it("is there", () => {
    expect(open).toBeDefined();
  });

  it("shuffle and unshuffle", () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 20 }), (source, itemSize) => {
        const from = inHeap(source);
        const to = inHeap(new Uint8Array(source.length));
        const back = inHeap(new Uint8Array(source.length));
        kernels().shuffle(from.own, to.own, itemSize);
        const expected = new Uint8Array(source.length);
        plainKernels.shuffle(source, expected, itemSize);
        expect(to.own).toEqual(expected);
        kernels().unshuffle(to.own, back.own, itemSize);
        expect(back.own).toEqual(source);
        for (const { intact } of [from, to, back]) intact();
      }),
    );
  });

  it("LZ4 and zstd, and what a hostile frame is refused for", () => {
    fc.assert(
      fc.property(items, fc.nat(), (source, cut) => {
        const from = inHeap(source);
        const to = inHeap(new Uint8Array(source.length + 1000));
        const back = inHeap(new Uint8Array(source.length));
        const size = kernels().lz4Encode(from.own, to.own, 1);
        if (source.length > 0) {
          expect(kernels().lz4Decode(to.own.subarray(0, size), back.own)).toBe(source.length);
          expect(back.own).toEqual(source);
          kernels().lz4Decode(to.own.subarray(0, cut % size), back.own);
        }
        const frame = kernels().zstd.encode(from.own, to.own, 3, true) ?? 0;
        expect(kernels().zstd.decode(to.own.subarray(0, frame), back.own)).toBe(source.length);
        expect(back.own).toEqual(source);
        kernels().zstd.decode(to.own.subarray(0, cut % frame), back.own);
        for (const { intact } of [from, to, back]) intact();
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
        if (source.length === 0) return;
        const layout: BlockLayout = { ...kind, streams: split ? kind.itemSize : 1 };
        const from = inHeap(source);
        const to = inHeap(new Uint8Array(source.length + 64));
        const back = inHeap(new Uint8Array(source.length));
        const elsewhere = new Uint8Array(source.length + 64);
        const effort = kind.inner === "zstd" ? 3 : 5;
        const size = kernels().blocks.encode(from.own, to.own, layout, effort) ?? 0;
        expect(kernels().blocks.encode(source, elsewhere, layout, effort)).toBe(size);
        expect(to.own.subarray(0, size)).toEqual(elsewhere.subarray(0, size));
        if (size > 0) {
          const block = to.own.subarray(0, size);
          expect(kernels().blocks.decode(block, back.own, layout, source.length, 0)).toBe(true);
          expect(back.own).toEqual(source);
          const [start, end] = [source.length >> 2, source.length - (source.length >> 3)];
          const part = inHeap(new Uint8Array(end - start));
          expect(kernels().blocks.decode(block, part.own, layout, source.length, start)).toBe(true);
          expect(part.own).toEqual(source.subarray(start, end));
          part.intact();
        }
        for (const { intact } of [from, to, back]) intact();
      }),
    );
  });

  it("LZ4 and zstd of more than fits in front of the heap", () => {
    const heap = (open as OpenHeap).heap;
    const size = 50 * 2 ** 20;
    const source = heap.allocate(size);
    if (!source) throw new Error("the heap is full");
    const period = new Uint32Array(2 ** 16 + 7);
    let word = 1;
    for (let i = 0; i < period.length; i++) {
      word = (Math.imul(word, 1_103_515_245) + 12_345) >>> 0;
      period[i] = word;
    }
    const bytes = new Uint8Array(period.buffer);
    for (let at = 0; at < size; at += bytes.length) source.set(bytes.subarray(0, size - at), at);
    const frame = new Uint8Array(size);
    const length = kernels().zstd.encode(source, frame, 1, false) ?? 0;
    const back = new Uint8Array(size);
    expect(kernels().zstd.decode(frame.subarray(0, length), back)).toBe(size);
    expect(Buffer.compare(back, source)).toBe(0);
    const block = new Uint8Array(size + 2 ** 20);
    const written = kernels().lz4Encode(source, block, 1);
    const stored = heap.allocate(written);
    if (!stored) throw new Error("the heap is full");
    stored.set(block.subarray(0, written));
    const part = new Uint8Array(1000);
    expect(kernels().lz4DecodePart(stored, part, size - 5000)).toBe(true);
    expect(Buffer.compare(part, source.subarray(size - 5000, size - 4000))).toBe(0);
    expect(kernels().lz4Decode(stored, back)).toBe(size);
    expect(Buffer.compare(back, source)).toBe(0);
    heap.release(stored);
    heap.release(source);
  });

  it("differences, sums, swaps and checksums", () => {
    fc.assert(
      fc.property(items, fc.constantFrom<NumberFormat>("i8", "i16", "i32", "i64"), (bytes, format) => {
        const unit = Number(format.slice(1)) / 8;
        const source = bytes.subarray(0, bytes.length - (bytes.length % unit));
        const from = inHeap(source);
        const to = inHeap(new Uint8Array(source.length));
        kernels().deltaEncode(from.own, to.own, format);
        const expected = new Uint8Array(source.length);
        plainKernels.deltaEncode(source, expected, format);
        expect(to.own).toEqual(expected);
        kernels().deltaDecode(to.own, format);
        expect(to.own).toEqual(source);
        if (unit > 1) {
          // Part of a buffer: what lies behind it is somebody's.
          const half = source.length - (source.length % (2 * unit)) - unit;
          const swapped = source.slice();
          plainKernels.swapBytes(swapped.subarray(0, Math.max(0, half)), unit);
          kernels().swapBytes(to.own.subarray(0, Math.max(0, half)), unit);
          expect(to.own).toEqual(swapped);
        }
        expect(kernels().crc32c(from.own)).toBe(plainKernels.crc32c(source));
        for (const { intact } of [from, to]) intact();
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
        const from = inHeap(whole);
        const to = inHeap(new Uint8Array(product(shape) * itemSize));
        const back = inHeap(new Uint8Array(whole.length));
        const expected = new Uint8Array(product(shape) * itemSize);
        const spread = new Uint8Array(whole.length);
        copyBox(whole, layout, expected, packed, shape, itemSize);
        copyBox(expected, packed, spread, layout, shape, itemSize);
        copyBox(from.own, layout, to.own, packed, shape, itemSize);
        copyBox(to.own, packed, back.own, layout, shape, itemSize);
        expect(Buffer.compare(to.own, expected)).toBe(0);
        expect(Buffer.compare(back.own, spread)).toBe(0);
        for (const { intact } of [from, to, back]) intact();
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
    const cuts = fc.record({
      axes: fc.array(axis, { maxLength: 5 }),
      itemSize: fc.constantFrom(1, 2, 3, 4, 8, 12, 16, 40),
      boxes: fc.array(
        fc.array(fc.tuple(fc.nat(12), fc.integer({ min: 1, max: 6 })), { minLength: 5, maxLength: 5 }),
        {
          maxLength: 4,
        },
      ),
    });
    fc.assert(
      fc.property(cuts, ({ axes, itemSize, boxes }) => {
        const held = cStrides(axes.map(({ length, pad, step }) => length * step + pad));
        const strides = held.map((stride, d) => stride * (axes[d]?.step ?? 1));
        fc.pre(strides.every((stride, d) => d === 0 || stride <= (strides[d - 1] ?? 0)));
        const region = { start: axes.map(({ first }) => first), shape: axes.map(({ length }) => length) };
        const items = product(axes.map(({ length, pad, step }) => length * step + pad));
        const whole = Uint8Array.from({ length: (1 + items) * itemSize }, (_, i) => i * 7 + (i >> 8));
        const from = inHeap(whole);
        const source = heapBox(from.own, region, { offset: 1, strides }, itemSize);
        const wanted = boxes.map((places) => {
          const start = axes.map((_, d) => places[d]?.[0] ?? 0);
          const shape = axes.map((_, d) => places[d]?.[1] ?? 1);
          const to = inHeap(new Uint8Array(product(shape) * itemSize));
          const packed = { offset: 0, strides: cStrides(shape) };
          const target = heapBox(to.own, { start, shape }, packed, itemSize);
          const expected = new Uint8Array(to.own.length);
          const shared = intersect(region, { start, shape });
          if (shared) {
            const placeIn = ({ offset, strides: all }: BoxLayout, first: readonly number[]) => ({
              offset: all.reduce((sum, s, d) => sum + s * ((shared.start[d] ?? 0) - (first[d] ?? 0)), offset),
              strides: all,
            });
            const layout = placeIn({ offset: 1, strides }, region.start);
            copyBox(whole, layout, expected, placeIn(packed, start), shared.shape, itemSize);
          }
          return { to, target, expected };
        });
        const targets = wanted.flatMap(({ target }) => target ?? []);
        expect(source).toBeDefined();
        expect(targets.length).toBe(wanted.length);
        copyShared(source as HeapBox, joined(targets), itemSize);
        for (const { to, expected } of wanted) {
          expect(to.own).toEqual(expected);
          to.intact();
        }
        from.intact();
      }),
      { numRuns: samples(500) },
    );
  });

  it("copies to more boxes than a call takes", () => {
    const from = inHeap(Uint8Array.from({ length: 3000 }, (_, i) => i * 13 + (i >> 8)));
    const to = inHeap(new Uint8Array(3000));
    const boxOf = (bytes: Uint8Array, start: number, length: number) =>
      heapBox(bytes, { start: [start], shape: [length] }, { offset: start, strides: [1] }, 1) as HeapBox;
    const targets = Array.from({ length: 3000 }, (_, i) => boxOf(to.own, i, 1));
    copyShared(boxOf(from.own, 0, 3000), joined(targets), 1);
    expect(to.own).toEqual(from.own);
    for (const { intact } of [from, to]) intact();
  });

  it("boxes are no others than those of the heap whose items lie in order", () => {
    const region = { start: [0, 0], shape: [3, 4] };
    const { own, intact } = inHeap(new Uint8Array(12));
    const inOrder = { offset: 0, strides: [4, 1] };
    expect(heapBox(own, region, inOrder, 1)).toBeDefined();
    expect(heapBox(own, region, { offset: 0, strides: [1, 3] }, 1)).toBeUndefined();
    expect(heapBox(own, region, inOrder, 0)).toBeUndefined();
    expect(heapBox(new Uint8Array(12), region, inOrder, 1)).toBeUndefined();
    intact();
  });

  it("a pool of them knows its buffers by any part, and goes on without the heap when that is full", () => {
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
