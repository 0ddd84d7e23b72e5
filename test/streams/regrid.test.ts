// @module-tag sampled
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChunkData } from "../../src/codecs/chunk-data.ts";
import { openKernelHeap } from "../../src/codecs/kernels/kernels.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import { BufferPool, type BufferSource } from "../../src/streams/buffer-pool.ts";
import type { ChunkRef, DecodedChunk, Region } from "../../src/streams/chunk.ts";
import { chunksIn, chunksTouched, type RegridTarget, regrid } from "../../src/streams/regrid.ts";
import { intersect, type Selection } from "../../src/streams/selection.ts";
import { plainBuffers } from "../../src/util/bytes.ts";
import { coordsOf, cStrides, indexOf, product } from "../../src/util/shape.ts";
import { streamFrom } from "../../src/util/web-streams.ts";
import { samples } from "../support/samples.ts";
import { ownPlaces, packedStrides, shuffled, vector } from "./arbitraries.ts";
import {
  collect,
  failOnUnhandledRejections,
  itemsOf,
  refsOf,
  rejection,
  stringsOf,
  variableData,
  vectorRefs,
} from "./support.ts";

/** An array in source chunks, and what is to become of it. */
interface Case {
  readonly shape: readonly number[];
  readonly sourceChunk: readonly number[];
  readonly sourceStrides: readonly number[];
  /** Whether edge chunks hold as many items as the others. */
  readonly overhang: boolean;
  /** By source chunk, in C order of the grid. */
  readonly missing: readonly boolean[];
  /** Indexes of the source chunks in the order in which they arrive. */
  readonly arrival: readonly number[];
  readonly selection: Selection;
  /** The part of the target that is wanted, in items; all of it where absent. */
  readonly window: Region | undefined;
  readonly targetChunk: readonly number[];
  readonly targetStrides: readonly number[];
  readonly itemSize: number;
  readonly hasFill: boolean;
}

const axis = fc
  .record({
    length: fc.nat(9),
    sourceChunk: fc.integer({ min: 1, max: 10 }),
    targetChunk: fc.integer({ min: 1, max: 10 }),
    step: fc.constantFrom(1, 1, 1, 2, 3),
    whole: fc.boolean(),
  })
  .chain(({ length, step, whole, ...chunks }) =>
    fc.tuple(fc.nat(length), fc.nat(length), fc.nat(9), fc.nat(3)).map(([a, b, c, n]) => {
      const [from, to] = whole ? [0, length] : [Math.min(a, b), Math.max(a, b)];
      const count = Math.ceil((to - from) / step);
      return {
        ...chunks,
        length,
        start: from,
        step,
        count,
        window: wholeChunks(count, chunks.targetChunk, c, n),
      };
    }),
  );

/** The items of `more + 1` chunks from about the `from`th on. */
function wholeChunks(length: number, chunk: number, from: number, more: number) {
  const chunks = Math.ceil(length / chunk);
  const start = chunks === 0 ? 0 : (from % chunks) * chunk;
  return { start, length: Math.min(length - start, (more + 1) * chunk) };
}

const anyCase: fc.Arbitrary<Case> = fc.array(axis, { maxLength: 3 }).chain((axes) => {
  const shape = axes.map(({ length }) => length);
  const sourceChunk = axes.map((a) => a.sourceChunk);
  const targetChunk = axes.map((a) => a.targetChunk);
  const chunks = refsOf(shape, sourceChunk).map(({ index }) => index);
  return fc.record({
    shape: fc.constant(shape),
    sourceChunk: fc.constant(sourceChunk),
    sourceStrides: ownPlaces(sourceChunk),
    overhang: fc.boolean(),
    missing: vector(chunks.length, fc.constantFrom(false, false, true)),
    arrival: shuffled(chunks),
    selection: fc.constant({
      start: axes.map(({ start }) => start),
      step: axes.map(({ step }) => step),
      shape: axes.map(({ count }) => count),
    }),
    window: fc.option(
      fc.constant({
        start: axes.map(({ window }) => window.start),
        shape: axes.map(({ window }) => window.length),
      }),
      { nil: undefined },
    ),
    targetChunk: fc.constant(targetChunk),
    targetStrides: packedStrides(targetChunk),
    itemSize: fc.constantFrom(1, 2, 3, 4, 6, 8, 16),
    hasFill: fc.boolean(),
  });
});

/** How the items of a data type are made for these tests, and read back. */
interface Items<T> {
  readonly dataType: DataType;
  readonly fillValue: Uint8Array | null;
  /** The item that fills what no data came for. */
  readonly fill: T;
  at(index: number): T;
  /** A chunk of the items that `at` gives at `coords`; what is undefined is never to be read. */
  pack(given: Case, items: readonly (T | undefined)[], buffers: BufferPool): ChunkData;
  unpack(data: ChunkData): T[];
}

function fixedItems({ itemSize, hasFill }: Case): Items<number[]> {
  const fill = Array.from({ length: itemSize }, (_, b) => (hasFill ? 200 + b : 0));
  return {
    dataType: { kind: "raw", size: itemSize },
    fillValue: hasFill ? new Uint8Array(fill) : null,
    fill,
    at: (index) => Array.from({ length: itemSize }, (_, b) => (index * 7 + b * 31 + 1) & 255),
    pack({ sourceChunk, sourceStrides }, items, buffers) {
      const extent = 1 + sourceStrides.reduce((sum, s, d) => sum + s * ((sourceChunk[d] ?? 1) - 1), 0);
      const bytes = buffers.take(extent * itemSize).fill(99);
      items.forEach((item, i) => {
        const coords = [...coordsOf(sourceChunk)][i] ?? [];
        const place = coords.reduce((sum, c, d) => sum + c * (sourceStrides[d] ?? 0), 0);
        if (item) bytes.set(item, place * itemSize);
      });
      return { kind: "fixed", bytes, itemSize, shape: sourceChunk, strides: sourceStrides };
    },
    unpack: itemsOf,
  };
}

function stringItems({ hasFill }: Case): Items<string> {
  const fill = hasFill ? "füll" : "";
  return {
    dataType: { kind: "string" },
    fillValue: hasFill ? new TextEncoder().encode(fill) : null,
    fill,
    at: (index) => "åb".repeat(index % 4) + index,
    pack: ({ sourceChunk }, items, buffers) =>
      variableData(
        items.map((item) => item ?? "never read"),
        sourceChunk,
        buffers,
      ),
    unpack: stringsOf,
  };
}

/** Where the items of a chunk of a shape lie in an array; undefined for those beyond the chunk's region. */
function placesIn(shape: readonly number[], { start, shape: own }: Region): (number[] | undefined)[] {
  return [...coordsOf(shape)].map((c) =>
    c.every((n, d) => n < (own[d] ?? 0)) ? c.map((n, d) => n + (start[d] ?? 0)) : undefined,
  );
}

/** Source chunks in their order of arrival, each counting how often it was released. */
function piecesOf<T>(given: Case, items: Items<T>, buffers: BufferPool, released: number[]): DecodedChunk[] {
  const { shape, sourceChunk, overhang, missing, arrival } = given;
  const refs = refsOf(shape, sourceChunk);
  return arrival.map((i): DecodedChunk => {
    const ref = refs[i];
    if (ref === undefined) throw new Error("no such chunk");
    const { region } = ref;
    const release = () => {
      released.push(i);
    };
    if (missing[i]) return { ...ref, release, data: undefined };
    const held = overhang ? sourceChunk : region.shape;
    const heldCase = overhang ? given : { ...given, sourceChunk: held };
    const contents = placesIn(held, region).map((place) => place && items.at(indexOf(place, shape)));
    return { ...ref, release, data: items.pack(heldCase, contents, buffers) };
  });
}

/** The item of the result at `coords`, or undefined where its source chunk is missing. */
function resultAt<T>(given: Case, items: Items<T>, coords: readonly number[]): T | undefined {
  const { shape, sourceChunk, selection, missing } = given;
  const source = coords.map((c, d) => (selection.start[d] ?? 0) + (selection.step[d] ?? 1) * c);
  const grid = shape.map((n, d) => Math.ceil(n / (sourceChunk[d] ?? 1)));
  const chunk = source.map((c, d) => Math.floor(c / (sourceChunk[d] ?? 1)));
  return missing[indexOf(chunk, grid)] ? undefined : items.at(indexOf(source, shape));
}

failOnUnhandledRejections();

async function check<T>(given: Case, items: Items<T>, source?: BufferSource): Promise<void> {
  const { selection, window, targetChunk, targetStrides } = given;
  const buffers = new BufferPool(2 ** 24, { source });
  const released: number[] = [];
  const pieces = piecesOf(given, items, buffers, released);
  const chunk = { shape: targetChunk, dataType: items.dataType, fillValue: items.fillValue };
  const options = { selection, buffers, ...(window && { window }) };
  const target: RegridTarget = { shape: selection.shape, chunk, strides: targetStrides };
  const results = await collect(streamFrom(pieces).pipeThrough(regrid(target, options)));

  expect(released.sort((a, b) => a - b)).toEqual(pieces.map((_, i) => i));
  expect(results.map(({ index }) => index)).toEqual(results.map((_, i) => i));
  const placesOf = (chunks: readonly ChunkRef[]) =>
    Object.fromEntries(chunks.map(({ coords, region }) => [coords.join(), region]));
  const expected = refsOf(selection.shape, targetChunk).filter(
    ({ region }) => window === undefined || intersect(region, window) !== undefined,
  );
  expect(results.length).toBe(expected.length);
  expect(placesOf(results)).toEqual(placesOf(expected));
  for (const { region, data } of results) {
    const wanted = placesIn(targetChunk, region).map((place) => place && resultAt(given, items, place));
    expect(data === undefined).toBe(wanted.every((item) => item === undefined));
    if (data === undefined) continue;
    expect(data.shape).toEqual(targetChunk);
    if (data.kind === "fixed") expect(data.strides).toEqual(targetStrides);
    expect(items.unpack(data)).toEqual(wanted.map((item) => item ?? items.fill));
    buffers.give(data.bytes);
  }
  expect(buffers.taken).toBe(0);
}

const string: DataType = { kind: "string" };
const int32: DataType = { kind: "int", size: 4 };

function int32Data(values: readonly number[], shape: readonly number[]): ChunkData {
  const bytes = new Uint8Array(new Int32Array(values).buffer);
  return { kind: "fixed", bytes, itemSize: 4, shape, strides: cStrides(shape) };
}

function values(chunk: DecodedChunk | undefined): number[] {
  return chunk?.data ? [...new Int32Array(chunk.data.bytes.slice().buffer)] : [];
}

describe("regrid", () => {
  it("gives what a loop over items gives, for items of one size", async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, (given) => check(given, fixedItems(given))),
      { numRuns: samples(300) },
    );
  });

  it("gives the same in the heap of the kernels", async () => {
    const open = openKernelHeap() ?? expect.fail("there is no heap");
    const inOrder = (given: Case) => ({
      ...given,
      sourceStrides: cStrides(given.sourceChunk),
      targetStrides: cStrides(given.targetChunk),
    });
    for (const [cases, numRuns] of [
      [anyCase.map(inOrder), samples(300)] as const,
      [anyCase, samples(100)] as const,
    ])
      await fc.assert(
        fc.asyncProperty(cases, (given) => check(given, fixedItems(given), open.heap)),
        { numRuns },
      );
    open.close();
  });

  it("gives what a loop over items gives, for variable items", async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, (given) => check(given, stringItems(given))),
      { numRuns: samples(150) },
    );
  });

  const chunk = { shape: [4], dataType: int32, fillValue: null };

  it("passes a target chunk on as soon as all of its items are there", async () => {
    const { readable, writable } = regrid({ shape: [8], chunk });
    const [writer, reader] = [writable.getWriter(), readable.getReader()];
    const pieces = vectorRefs(4, 2).map((ref, i) => ({ ...ref, data: int32Data([2 * i, 2 * i + 1], [2]) }));
    const read = reader.read();
    for (const i of [3, 0, 2]) await writer.write(pieces[i] as DecodedChunk);
    const { value: first } = await read;
    expect(first).toMatchObject({ index: 0, coords: [1], region: { start: [4], shape: [4] } });
    expect(values(first)).toEqual([4, 5, 6, 7]);
    const rest = reader.read();
    await writer.write(pieces[1] as DecodedChunk);
    expect(values((await rest).value)).toEqual([0, 1, 2, 3]);
  });

  it("rechunks frames, which are no chunks of a grid", async () => {
    const frames = [0, 1, 2, 3].map((t) => ({
      index: t,
      coords: [t, 0],
      region: { start: [t, 0], shape: [1, 4] },
      data: int32Data([t * 10, t * 10 + 1, t * 10 + 2, t * 10 + 3], [1, 4]),
    }));
    const cut = regrid({ shape: [4, 4], chunk: { ...chunk, shape: [4, 2] } });
    const results = await collect(streamFrom(frames).pipeThrough(cut));
    expect(results.map(values)).toEqual([
      [0, 1, 10, 11, 20, 21, 30, 31],
      [2, 3, 12, 13, 22, 23, 32, 33],
    ]);
  });

  it("takes one buffer for a target chunk, with the first data; none where all is missing, or nothing wanted", async () => {
    const buffers = new BufferPool(2 ** 20);
    const missing = vectorRefs(4, 2).map((ref) => ({ ...ref, data: undefined }));
    const cut = (pieces: DecodedChunk[], shape: readonly number[] = [8]) =>
      collect(streamFrom(pieces).pipeThrough(regrid({ shape, chunk }, { buffers })));
    expect((await cut(missing)).map(({ data }) => data)).toEqual([undefined, undefined]);
    expect(await cut([], [0])).toEqual([]);
    expect(buffers.peak).toBe(0);
    const pieces = missing.map((ref, i) => (i === 0 ? ref : { ...ref, data: int32Data([i, i], [2]) }));
    expect((await cut(pieces)).map(values)).toEqual([
      [0, 0, 1, 1],
      [2, 2, 3, 3],
    ]);
    expect([buffers.taken, buffers.peak]).toEqual([2 * 4096, 2 * 4096]);
  });

  describe("refuses", () => {
    const run = (pieces: DecodedChunk[], target: RegridTarget, buffers?: BufferPool) =>
      rejection(collect(streamFrom(pieces).pipeThrough(regrid(target, { buffers }))));
    const piece = (data: ChunkData): DecodedChunk[] => vectorRefs(1, 4).map((ref) => ({ ...ref, data }));
    const numbers = int32Data([1, 2, 3, 4], [4]);
    const strings = variableData(["a", "b", "c", "d"], [4], plainBuffers);
    const plane = { index: 0, coords: [0, 0], region: { start: [0, 0], shape: [2, 2] } };

    it.each<[string, DecodedChunk[], RegridTarget["chunk"], object]>([
      [
        "items of another size",
        piece({ ...numbers, bytes: new Uint8Array(32), itemSize: 8 } as ChunkData),
        chunk,
        { coords: [0], expected: "items of 4 bytes", found: "items of 8 bytes" },
      ],
      ["variable data for fixed", piece(strings), chunk, {}],
      ["fixed data for variable", piece(numbers), { ...chunk, dataType: string }, {}],
      ["pieces of another rank", [{ ...plane, data: int32Data([1, 2, 3, 4], [2, 2]) }], chunk, {}],
      ["pieces with fewer items than their region", piece(int32Data([1, 2, 3], [3])), chunk, {}],
    ])("%s", async (_, pieces, chunk, details) => {
      expect(await run(pieces, { shape: [4], chunk })).toMatchObject({ code: "invalid-option", details });
    });

    it("to end while a target chunk lacks items, and names it", async () => {
      const pieces = vectorRefs(3, 2).map((r) => ({ ...r, data: int32Data([1, 2], [2]) }));
      const error = await run(pieces, { shape: [8], chunk });
      expect(error).toMatchObject({ code: "invalid-option", details: { coords: [1] } });
    });

    it("variable chunks above 2 GiB, before it takes a buffer for them", async () => {
      const buffers = new BufferPool(2 ** 20);
      const huge = { shape: [5000], dataType: string, fillValue: new Uint8Array(2 ** 20) };
      const pieces = vectorRefs(1).map((r) => ({ ...r, data: variableData(["one"], [1], buffers) }));
      const error = await run(pieces, { shape: [1], chunk: huge }, buffers);
      expect(error).toMatchObject({ code: "resource-limit" });
      expect(buffers.peak).toBeLessThan(2 ** 20);
    });
  });
});

describe("chunksIn", () => {
  it("names each chunk once that has an item of a region, in C order", () => {
    const inputs = fc.nat(3).chain((rank) =>
      fc.tuple(
        fc.record({
          start: vector(rank, fc.nat(12)),
          shape: vector(rank, fc.integer({ min: 1, max: 7 })),
        }),
        vector(rank, fc.integer({ min: 1, max: 5 })),
      ),
    );
    fc.assert(
      fc.property(inputs, ([region, chunkShape]) => {
        const touched = new Map<string, number[]>();
        for (const c of coordsOf(region.shape)) {
          const coords = c.map((n, d) => Math.floor((n + (region.start[d] ?? 0)) / (chunkShape[d] ?? 1)));
          touched.set(coords.join(), coords);
        }
        const found = [...chunksIn(region, chunkShape)];
        expect(found.length).toBe(touched.size);
        expect(new Set(found.map((coords) => coords.join()))).toEqual(new Set(touched.keys()));
        const limit = found.length === 0 ? [] : region.start.map(() => 20);
        const places = found.map((coords) => indexOf(coords, limit));
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }),
      { numRuns: samples(150) },
    );
    expect(chunksTouched({ start: [3, 4], shape: [6, 1] }, [4, 5])).toEqual({ start: [0, 0], shape: [3, 1] });
  });
});

describe("regrid with a growing first dimension", () => {
  const FILL = 255;
  const target = (shape: readonly number[], others: readonly number[]) => ({
    shape: [0, ...others],
    chunk: { shape, dataType: { kind: "uint", size: 1 }, fillValue: Uint8Array.of(FILL) } as const,
  });

  /** Rows `[from, from + count)`, whose items hold the number of their row. */
  function rows(index: number, from: number, count: number, width = 2): DecodedChunk {
    const shape = [count, width];
    const bytes = Uint8Array.from({ length: product(shape) }, (_, i) => from + Math.floor(i / width));
    const data = { kind: "fixed", bytes, itemSize: 1, shape, strides: cStrides(shape) } as const;
    return { index, coords: [index], region: { start: [from, 0], shape }, data };
  }

  it("cuts the last chunks where the rows end, and fills them up, whatever the pieces", async () => {
    const cases = fc.record({
      counts: fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 8 }),
      chunkRows: fc.integer({ min: 1, max: 9 }),
      width: fc.integer({ min: 1, max: 5 }),
      chunkWidth: fc.integer({ min: 1, max: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ counts, chunkRows, width, chunkWidth }) => {
        let length = 0;
        const pieces = counts.map((count, i) => {
          length += count;
          return rows(i, length - count, count, width);
        });
        const buffers = new BufferPool(2 ** 20);
        buffers.give(buffers.take(4096).fill(77));
        const cut = regrid(target([chunkRows, chunkWidth], [width]), { growing: true, buffers });
        const chunks = await collect(streamFrom(pieces).pipeThrough(cut));
        expect(chunks.length).toBe(
          Math.ceil(length / chunkRows) * (length > 0 ? Math.ceil(width / chunkWidth) : 0),
        );
        for (const { coords, region, data } of chunks) {
          const start = [(coords[0] ?? 0) * chunkRows, (coords[1] ?? 0) * chunkWidth];
          const [top = 0, left = 0] = start;
          const shape = [Math.min(chunkRows, length - top), Math.min(chunkWidth, width - left)];
          expect(region).toEqual({ start, shape });
          for (const [i, item] of itemsOf(data).flat().entries()) {
            const [y, x] = [top + Math.floor(i / chunkWidth), left + (i % chunkWidth)];
            expect(item).toBe(y < length && x < width ? y : FILL);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it("fills up chunks of strings too, and passes on without data those of which all rows are missing", async () => {
    const buffers = new BufferPool(2 ** 16);
    const fillValue = new TextEncoder().encode("-");
    const chunk = { shape: [4], dataType: { kind: "string" }, fillValue } as const;
    const data = variableData(["a", "bc", ""], [3], buffers);
    const piece = { index: 0, coords: [0], region: { start: [0], shape: [3] }, data };
    const cut = regrid({ shape: [0], chunk }, { growing: true, buffers });
    const [only] = await collect(streamFrom<DecodedChunk>([piece]).pipeThrough(cut));
    expect(only?.region).toEqual({ start: [0], shape: [3] });
    expect(stringsOf(only?.data)).toEqual(["a", "bc", "", "-"]);
    const missing = { ...rows(0, 0, 3), data: undefined };
    const growing = regrid(target([4, 2], [2]), { growing: true });
    const [none] = await collect(streamFrom([missing]).pipeThrough(growing));
    expect(none).toMatchObject({ region: { start: [0, 0], shape: [3, 2] }, data: undefined });
  });

  it("still wants every row before the end", async () => {
    const cut = regrid(target([4, 2], [2]), { growing: true });
    const chunks = collect(streamFrom([rows(0, 0, 1), rows(1, 2, 1)]).pipeThrough(cut));
    expect(await rejection(chunks)).toMatchObject({ code: "invalid-option", details: { coords: [0, 0] } });
  });
});
