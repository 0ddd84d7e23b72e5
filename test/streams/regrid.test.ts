// @module-tag sampled
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChunkData } from "../../src/codecs/chunk-data.ts";
import { openKernelHeap } from "../../src/codecs/kernels/kernels.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import { BufferPool, type BufferSource } from "../../src/streams/buffer-pool.ts";
import type { DecodedChunk } from "../../src/streams/chunk.ts";
import { chunksIn, chunksTouched, type RegridTarget, regrid } from "../../src/streams/regrid.ts";
import { intersect } from "../../src/streams/selection.ts";
import { streamFrom } from "../../src/streams/web.ts";
import { plainBuffers } from "../../src/util/buffers.ts";
import { coordsOf, cStrides, indexOf, product } from "../../src/util/shape.ts";
import { samples } from "../support/samples.ts";
import { vector } from "./arbitraries.ts";
import {
  anyCase,
  type Case,
  fixedItems,
  type Items,
  piecesOf,
  resultAt,
  stringItems,
} from "./regrid-case.ts";
import {
  collect,
  failOnUnhandledRejections,
  refsOf,
  rejection,
  variableData,
  vectorRefs,
} from "./support.ts";

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
  const inOrder = results.sort((a, b) => (a.coords.join() < b.coords.join() ? -1 : 1));
  const expected = refsOf(selection.shape, targetChunk)
    .filter(({ region }) => window === undefined || intersect(region, window) !== undefined)
    .sort((a, b) => (a.coords.join() < b.coords.join() ? -1 : 1));
  expect(inOrder.map(({ coords, region }) => ({ coords, region }))).toEqual(
    expected.map(({ coords, region }) => ({ coords, region })),
  );
  for (const { region, data } of results) {
    const wanted = [...coordsOf(targetChunk)].map((c) =>
      c.every((n, d) => n < (region.shape[d] ?? 0))
        ? resultAt(
            given,
            items,
            c.map((n, d) => n + (region.start[d] ?? 0)),
          )
        : undefined,
    );
    if (wanted.every((item) => item === undefined)) expect(data).toBeUndefined();
    if (data === undefined) {
      expect(wanted.every((item) => item === undefined)).toBe(true);
      continue;
    }
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
    const open = openKernelHeap();
    expect(open).toBeDefined();
    await fc.assert(
      fc.asyncProperty(anyCase, (given) => {
        const inOrder = {
          sourceStrides: cStrides(given.sourceChunk),
          targetStrides: cStrides(given.targetChunk),
        };
        return check({ ...given, ...inOrder }, fixedItems({ ...given, ...inOrder }), open?.heap);
      }),
      { numRuns: samples(300) },
    );
    await fc.assert(
      fc.asyncProperty(anyCase, (given) => check(given, fixedItems(given), open?.heap)),
      { numRuns: samples(100) },
    );
    open?.close();
  });

  it("gives what a loop over items gives, for variable items", async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, (given) => check(given, stringItems(given))),
      { numRuns: samples(150) },
    );
  });

  it("passes a target chunk on as soon as all of its items are there", async () => {
    const chunk = { shape: [4], dataType: int32, fillValue: null };
    const { readable, writable } = regrid({ shape: [8], chunk });
    const writer = writable.getWriter();
    const reader = readable.getReader();
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
    const chunk = { shape: [4, 2], dataType: int32, fillValue: null };
    const frames = [0, 1, 2, 3].map((t) => ({
      index: t,
      coords: [t, 0],
      region: { start: [t, 0], shape: [1, 4] },
      data: int32Data([t * 10, t * 10 + 1, t * 10 + 2, t * 10 + 3], [1, 4]),
    }));
    const results = await collect(streamFrom(frames).pipeThrough(regrid({ shape: [4, 4], chunk })));
    expect(results.map(values)).toEqual([
      [0, 1, 10, 11, 20, 21, 30, 31],
      [2, 3, 12, 13, 22, 23, 32, 33],
    ]);
  });

  it("takes no buffer for target chunks that have no data yet", async () => {
    const buffers = new BufferPool(2 ** 20);
    const chunk = { shape: [4], dataType: int32, fillValue: null };
    const pieces = vectorRefs(4, 2).map((ref) => ({ ...ref, data: undefined }));
    const results = await collect(streamFrom(pieces).pipeThrough(regrid({ shape: [8], chunk }, { buffers })));
    expect(results.map(({ data }) => data)).toEqual([undefined, undefined]);
    expect(buffers.peak).toBe(0);
  });

  it("gives nothing for an array without items", async () => {
    const chunk = { shape: [4, 4], dataType: int32, fillValue: null };
    expect(await collect(streamFrom<DecodedChunk>([]).pipeThrough(regrid({ shape: [0, 8], chunk })))).toEqual(
      [],
    );
  });

  describe("refuses", () => {
    const chunk = { shape: [4], dataType: int32, fillValue: null };
    const run = (pieces: DecodedChunk[], target: RegridTarget) =>
      rejection(collect(streamFrom(pieces).pipeThrough(regrid(target))));
    const [ref] = vectorRefs(1, 4);
    const piece = (data: ChunkData): DecodedChunk[] => (ref ? [{ ...ref, data }] : []);

    it("to end while a target chunk lacks items, and names it", async () => {
      const pieces = vectorRefs(3, 2).map((r) => ({ ...r, data: int32Data([1, 2], [2]) }));
      expect(await run(pieces, { shape: [8], chunk })).toMatchObject({
        code: "invalid-option",
        details: { coords: [1] },
      });
    });

    it("items of another size", async () => {
      const data: ChunkData = {
        kind: "fixed",
        bytes: new Uint8Array(32),
        itemSize: 8,
        shape: [4],
        strides: [1],
      };
      expect(await run(piece(data), { shape: [4], chunk })).toMatchObject({
        code: "invalid-option",
        details: { coords: [0], expected: "items of 4 bytes", found: "items of 8 bytes" },
      });
    });

    it("variable data for fixed and fixed for variable", async () => {
      const strings = variableData(["a", "b", "c", "d"], [4], plainBuffers);
      expect(await run(piece(strings), { shape: [4], chunk })).toMatchObject({ code: "invalid-option" });
      const stringChunk = { shape: [4], dataType: string, fillValue: null };
      const numbers = int32Data([1, 2, 3, 4], [4]);
      expect(await run(piece(numbers), { shape: [4], chunk: stringChunk })).toMatchObject({
        code: "invalid-option",
      });
    });

    it("pieces of another rank, or with fewer items than their region", async () => {
      const plane = { index: 0, coords: [0, 0], region: { start: [0, 0], shape: [2, 2] } };
      const flat = { ...plane, data: int32Data([1, 2, 3, 4], [2, 2]) };
      expect(await run([flat], { shape: [4], chunk })).toMatchObject({ code: "invalid-option" });
      expect(await run(piece(int32Data([1, 2, 3], [3])), { shape: [4], chunk })).toMatchObject({
        code: "invalid-option",
      });
    });

    it("variable chunks above 2 GiB, before it takes a buffer for them", async () => {
      const buffers = new BufferPool(2 ** 20);
      const huge = { shape: [5000], dataType: string, fillValue: new Uint8Array(2 ** 20) };
      const pieces = vectorRefs(1).map((r) => ({ ...r, data: variableData(["one"], [1], buffers) }));
      const cut = regrid({ shape: [1], chunk: huge }, { buffers });
      expect(await rejection(collect(streamFrom(pieces).pipeThrough(cut)))).toMatchObject({
        code: "resource-limit",
      });
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
        expect(product(region.shape)).toBeGreaterThan(0);
      }),
      { numRuns: samples(150) },
    );
  });
});

describe("chunksTouched", () => {
  it("are those in which items lie", () => {
    expect(chunksTouched({ start: [3, 4], shape: [6, 1] }, [4, 5])).toEqual({ start: [0, 0], shape: [3, 1] });
  });
});
