// @module-tag sampled
import fc from "fast-check";
import { expect, it, test } from "vitest";
import { GrowingSlab, type Slab, slabParts } from "../../../src/run/slabs/growing-slab.ts";
import { SlabQueue } from "../../../src/run/slabs/slab-queue.ts";
import type { Region } from "../../../src/streams/chunk.ts";
import {
  axesOver,
  chunksHit,
  intersect,
  type Selection,
  selectedRegions,
} from "../../../src/streams/selection.ts";
import { coordsOf, cStrides, indexOf, product } from "../../../src/util/shape.ts";
import { shuffled } from "../../streams/arbitraries.ts";
import { rejection } from "../../streams/support.ts";
import { samples } from "../../support/samples.ts";
import { settled } from "../../support/until.ts";

function slab(number: number): Slab {
  const bytes = Uint8Array.of(number);
  return {
    region: { start: [number], shape: [1] },
    data: { kind: "fixed", bytes, itemSize: 1, shape: [1], strides: [1] },
  };
}

it("gives slabs in order, whichever is made first, and gives each back when the next is asked for", async () => {
  const queue = new SlabQueue();
  const events: string[] = [];
  for (const number of [2, 0, 1]) {
    queue
      .offer(slab(number), number, () => events.push(`${number} given back`))
      .then(() => events.push(`${number} taken`));
  }
  for await (const { region } of queue.inOrder(3)) {
    await Promise.resolve();
    events.push(`${region.start[0]} used`);
  }
  expect(events).toEqual(
    [0, 1, 2].flatMap((number) => [`${number} taken`, `${number} used`, `${number} given back`]),
  );
});

it("gives back what was offered and not taken when the reading is aborted", async () => {
  const queue = new SlabQueue();
  const stop = new AbortController();
  let given = 0;
  const offered = queue.offer(slab(1), 1, () => given++, stop.signal);
  stop.abort(new Error("enough"));
  expect(await rejection(offered)).toMatchObject({ code: "aborted", cause: new Error("enough") });
  expect(await rejection(queue.offer(slab(2), 2, () => given++, stop.signal))).toMatchObject({
    code: "aborted",
  });
  expect(given).toBe(2);
});

it("fails for its reader with what it is given, before anything that is offered", async () => {
  const queue = new SlabQueue();
  void queue.offer(slab(0), 0, () => {});
  queue.fail(new Error("a task failed"));
  expect(await rejection(queue.inOrder(1).next())).toMatchObject({ message: "a task failed" });
});

it("says whether its reader waits", async () => {
  const waits: boolean[] = [];
  const queue = new SlabQueue((isWaiting) => waits.push(isWaiting));
  const first = queue.inOrder(1).next();
  await Promise.resolve();
  expect(waits).toEqual([true]);
  void queue.offer(slab(0), 0, () => {});
  expect((await first).value?.region.start).toEqual([0]);
  expect(waits).toEqual([true, false]);
});

/** A slab of bytes, a row of chunks of `length` each, and what adds its chunks. */
function growing(length: number, count: number) {
  const shape = [length * count];
  const selection = { start: [0], step: [1], shape };
  const region = { start: [0], shape };
  const bytes = new Uint8Array(length * count);
  const data = { kind: "fixed" as const, bytes, itemSize: 1, shape, strides: [1] };
  const grown = new GrowingSlab({ selection, source: { chunkShape: [length] } }, region);
  const add = (chunk: number) => grown.add({ start: [chunk * length], shape: [length] }, data);
  return { slab: { region, data }, grown, add };
}

it("gives the first items of a slab before it is whole, then only parts of some size, and all of it once", async () => {
  const { slab, grown, add } = growing(2 ** 16, 10);
  const queue = new SlabQueue();
  const slabs = queue.inOrder(1);
  const lengths: number[] = [];
  let isGiven = false;
  const next = () => {
    isGiven = false;
    return slabs.next().then(({ value }) => {
      isGiven = true;
      lengths.push((value?.region.shape[0] ?? 0) / 2 ** 16);
    });
  };
  const grow = (chunk: number) => {
    add(chunk);
    queue.grow(grown, 0);
  };
  const first = next();
  grow(1);
  await settled();
  expect(isGiven).toBe(false);
  grow(0);
  await first;
  const second = next();
  for (const chunk of [2, 3, 4]) grow(chunk);
  await settled();
  expect(isGiven).toBe(false);
  grow(5);
  await second;
  const events: string[] = [];
  void queue.offer(slab, 0, () => events.push("given back")).then(() => events.push("taken"));
  await next();
  expect(events).toEqual(["taken"]);
  expect((await slabs.next()).done).toBe(true);
  expect(events).toEqual(["taken", "given back"]);
  expect(lengths).toEqual([2, 4, 4]);
});

it("gives nothing of a slab that is not due, and fails in the middle of one", async () => {
  const { grown, add } = growing(10, 3);
  const queue = new SlabQueue();
  const slabs = queue.inOrder(2);
  add(0);
  queue.grow(grown, 1);
  const first = slabs.next();
  queue.grow(grown, 0);
  expect((await first).value?.region).toEqual({ start: [0], shape: [10] });
  queue.fail(new Error("a task failed"));
  expect(await rejection(slabs.next())).toMatchObject({ message: "a task failed" });
});

/** A dimension: what is taken of it, a chunk, and the part of it that the slab has. */
const dimension = fc
  .record({
    start: fc.nat(6),
    step: fc.integer({ min: 1, max: 4 }),
    count: fc.integer({ min: 1, max: 7 }),
    chunk: fc.integer({ min: 1, max: 5 }),
    isCyclic: fc.boolean(),
  })
  .chain(({ count, ...axis }) =>
    fc
      .nat(count - 1)
      .chain((from) =>
        fc.integer({ min: 1, max: count - from }).map((length) => ({ ...axis, count, from, length })),
      ),
  );

const anySlab = fc.array(dimension, { minLength: 1, maxLength: 3 }).chain((axes) => {
  const selection: Selection = {
    start: axes.map(({ start }) => start),
    step: axes.map(({ step }) => step),
    shape: axes.map(({ count }) => count),
    // the box may end one item before it would meet itself
    cycle: axes.map(({ isCyclic, start, step, count }) =>
      isCyclic ? Math.max(start + 1, step * (count - 1) + 1) : 0,
    ),
  };
  const region = { start: axes.map(({ from }) => from), shape: axes.map(({ length }) => length) };
  const source = { chunkShape: axes.map(({ chunk }) => chunk) };
  return shuffled(piecesOf(selection, source.chunkShape, region)).map((pieces) => ({
    selection,
    source,
    region,
    pieces,
  }));
});

/** The items of the result that each source chunk gives to a slab. */
function piecesOf(selection: Selection, chunkShape: readonly number[], slab: Region): Region[] {
  const hit = axesOver(selection, chunkShape).map((axis, d) =>
    chunksHit(axis, slab.start[d] ?? 0, slab.shape[d] ?? 0),
  );
  return [...coordsOf(hit.map(({ count }) => count))].flatMap((at) => {
    const start = at.map((i, d) => (hit[d]?.at(i) ?? 0) * (chunkShape[d] ?? 1));
    const regions = selectedRegions(selection, { start, shape: chunkShape });
    return regions.filter((region) => intersect(region, slab));
  });
}

test("knows how many of its first items are there, whichever chunks come first", () => {
  fc.assert(
    fc.property(anySlab, ({ region, pieces, ...source }) => {
      const slab = new GrowingSlab(source, region);
      const isThere = new Array<boolean>(product(region.shape)).fill(false);
      for (const piece of pieces) {
        slab.add(piece, undefined);
        const own = intersect(piece, region) ?? region;
        for (const coords of coordsOf(own.shape)) {
          const place = coords.map((c, d) => c + (own.start[d] ?? 0) - (region.start[d] ?? 0));
          isThere[indexOf(place, region.shape)] = true;
        }
        const missing = isThere.indexOf(false);
        expect(slab.ready).toBe(missing < 0 ? isThere.length : missing);
      }
      expect(slab.ready).toBe(product(region.shape));
    }),
    { numRuns: samples(1000) },
  );
});

test("takes several chunks that come as one, and has its data where they are made", () => {
  const selection = { start: [0, 0], step: [1, 1], shape: [4, 6] };
  const slab = new GrowingSlab(
    { selection, source: { chunkShape: [2, 2] } },
    { start: [2, 0], shape: [2, 6] },
  );
  expect(slab.slab).toBeUndefined();
  slab.add({ start: [0, 0], shape: [2, 6] }, undefined);
  expect(slab.ready).toBe(0);
  slab.add({ start: [2, 0], shape: [2, 4] }, undefined);
  expect(slab.ready).toBe(4);
  const bytes = new Uint8Array(12);
  slab.add(
    { start: [2, 4], shape: [2, 2] },
    { kind: "fixed", bytes, itemSize: 1, shape: [2, 6], strides: [6, 1] },
  );
  expect(slab.ready).toBe(12);
  expect(slab.slab?.data.bytes).toBe(bytes);
});

test("parts of a slab are boxes that hold its items in order", () => {
  const cut = fc
    .array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 })
    .chain((shape) => fc.tuple(fc.constant(shape), fc.array(fc.nat(product(shape)), { maxLength: 4 })));
  fc.assert(
    fc.property(cut, ([shape, places]) => {
      const bytes = Uint8Array.from({ length: product(shape) }, (_, i) => i % 256);
      const region = { start: shape.map((_, d) => d), shape };
      const data = { kind: "fixed" as const, bytes, itemSize: 1, shape, strides: cStrides(shape) };
      const ends = [...places, bytes.length].sort((a, b) => a - b);
      let at = 0;
      for (const [i, end] of ends.entries()) {
        for (const part of slabParts({ region, data }, ends[i - 1] ?? 0, end)) {
          const first = part.region.start.map((c, d) => c - d);
          expect(indexOf(first, shape)).toBe(at);
          for (const coords of coordsOf(part.region.shape)) {
            const place = coords.map((c, d) => c + (first[d] ?? 0));
            expect(part.data.bytes[indexOf(coords, part.data.shape)]).toBe(bytes[indexOf(place, shape)]);
            expect(indexOf(place, shape)).toBe(at++);
          }
        }
      }
      expect(at).toBe(bytes.length);
    }),
    { numRuns: samples(1000) },
  );
});
