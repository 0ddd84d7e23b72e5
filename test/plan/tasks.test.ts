// @module-tag sampled
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { isZarrflowError } from "../../src/index.ts";
import { boxesTouching, pieceOf } from "../../src/plan/staged-windows.ts";
import {
  boxOf,
  boxRegion,
  countBoxes,
  evenSplit,
  firstResult,
  leaseBytesOf,
  longestBox,
  readsOf,
  type Split,
  stepsOf,
  writesOf,
} from "../../src/plan/task.ts";
import { coordsOf, indexOf, product } from "../../src/util/shape.ts";
import { given } from "../support/given.ts";
import { tasksOf } from "../support/plan-tasks.ts";
import { samples } from "../support/samples.ts";

const axis = fc.record({
  n: fc.integer({ min: 1, max: 30 }),
  from: fc.integer({ min: 1, max: 8 }),
  fromPerShard: fc.integer({ min: 1, max: 4 }),
  to: fc.integer({ min: 1, max: 8 }),
  toPerShard: fc.integer({ min: 1, max: 8 }),
});

const grids = fc.record({
  axes: fc.array(axis, { minLength: 1, maxLength: 3 }),
  isSharded: fc.boolean(),
  intoShards: fc.boolean(),
  spare: fc.constantFrom(0, 20_000, 200_000, 5e6),
});

test("tasks write every chunk once, each shard by one task, in steps that fit; the totals are theirs", async () => {
  await fc.assert(
    fc.asyncProperty(grids, async ({ axes, isSharded, intoShards, spare }) => {
      const shape = axes.map(({ n }) => n);
      const chunks = axes.map(({ from }) => from);
      const shards = axes.map(({ from, fromPerShard }) => from * fromPerShard);
      const made = { shape, dataType: "float64", chunks, ...(isSharded && { shards }) };
      const source = await openArray(await given({ ...made, values: null }));
      const target = axes.map(({ to }) => to);
      const perShard = axes.map(({ toPerShard }) => toPerShard);
      const changes = {
        chunks: target,
        codec: "gzip" as const,
        ...(intoShards && { shards: target.map((n, d) => n * (perShard[d] ?? 1)) }),
      };
      const plan = (maxMemory: number) => planFlow(source, "memory:planned", { ...changes, maxMemory });
      const refused: unknown = await plan(1).catch((error: unknown) => error);
      if (!isZarrflowError(refused, "budget-too-small")) throw refused;
      const least = Number(/(\d+) bytes/.exec(String(refused.details.expected))?.[1]);
      const { plan: planned } = await plan(least + spare);

      const grid = shape.map((n, d) => Math.ceil(n / (target[d] ?? 1)));
      const tasksOfShards = new Map<string, number>();
      const written = new Set<number>();
      let reads = 0;
      for (const task of tasksOf(planned)) {
        expect(leaseBytesOf(task)).toBeLessThanOrEqual(least + spare);
        if (task.kind === "scratch") {
          if (task.pass === 0) reads += [...readsOf(task)].length;
          continue;
        }
        for (const step of stepsOf(task)) {
          if (task.job.passes === undefined) reads += [...readsOf(step)].length;
          for (const coords of writesOf(step)) {
            expect(written.has(indexOf(coords, grid))).toBe(false);
            written.add(indexOf(coords, grid));
            const shard = coords.map((c, d) => Math.floor(c / (perShard[d] ?? 1))).join();
            if (intoShards) expect(tasksOfShards.get(shard) ?? task.number).toBe(task.number);
            tasksOfShards.set(shard, task.number);
          }
        }
      }
      expect(written.size).toBe(product(grid));
      expect(reads).toBe(planned.totals.chunksRead);
    }),
    { numRuns: samples(150) },
  );
});

const splits: fc.Arbitrary<Split> = fc.record({
  start: fc.nat(6),
  step: fc.integer({ min: 1, max: 4 }),
  size: fc.integer({ min: 1, max: 9 }),
  length: fc.nat(40),
});

test("boxes follow one another without gaps, and each result lies in the box that it is said to", () => {
  fc.assert(
    fc.property(splits, (split) => {
      const boxes = countBoxes(split);
      expect(firstResult(split, boxes)).toBe(split.length);
      for (let box = 0; box < boxes; box++) {
        const length = firstResult(split, box + 1) - firstResult(split, box);
        expect(length).toBeLessThanOrEqual(longestBox(split));
        for (let r = firstResult(split, box); r < firstResult(split, box + 1); r++)
          expect(boxOf(split, r)).toBe(box);
      }
    }),
  );
});

describe("the pieces of an object", () => {
  const axis = fc.record({
    split: splits.filter(({ length }) => length > 0),
    next: fc.integer({ min: 1, max: 9 }),
  });

  test("are those of the boxes that it touches, one after the other", () => {
    fc.assert(
      fc.property(fc.array(axis, { maxLength: 3 }), (axes) => {
        const own = axes.map(({ split }) => split);
        const next = axes.map(({ split, next: size }) => evenSplit(split.length, size));
        for (const coords of coordsOf(own.map(countBoxes))) {
          const box = boxRegion(own, coords);
          if (product(box.shape) === 0) continue;
          const touched = boxesTouching(box, next);
          let items = 0;
          let ordinal = 0;
          for (const at of coordsOf(touched.shape)) {
            const piece = pieceOf(
              box,
              next,
              at.map((c, d) => c + (touched.start[d] ?? 0)),
            );
            expect(piece).toMatchObject({ ordinal, itemsBefore: items });
            items += product(piece?.region.shape ?? [0]);
            ordinal++;
          }
          expect(items).toBe(product(box.shape));
        }
      }),
      { numRuns: samples(50) },
    );
  });
});
