// @module-tag slow
// @module-tag sampled
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ArrayWriter,
  type CreateTarget,
  create,
  type ErrorOf,
  openArray,
  slice,
} from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { coordsOf, product } from "../../../src/util/shape.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { rejection } from "../../streams/support.ts";
import { bytesOf } from "../../support/consume.ts";
import { samples } from "../../support/samples.ts";
import { boxIn, NaiveArray, newArray, type Plan, plans, valuesOf } from "../naive-array.ts";

const folder = temporaryFolder();

async function contentOf(target: string | { store: MemoryStore; path: string }): Promise<Uint8Array> {
  return bytesOf(slice(await openArray(target)).bytes());
}

/** Room for all chunks, or for as few as can be. */
const isTight = fc.boolean();

async function beginIn(
  target: CreateTarget,
  plan: Plan,
  { concurrency = 16, tight = false },
): Promise<ArrayWriter> {
  const array = newArray(plan);
  if (!tight) return create(target, array, { concurrency });
  const error = (await rejection(
    create(target, array, { concurrency, maxMemory: 1 }),
  )) as ErrorOf<"budget-too-small">;
  return create(target, array, { concurrency, maxMemory: error.details.neededBytes });
}

const overwritten = plans.chain((plan) =>
  fc
    .record({ boxes: fc.array(boxIn(plan.shape), { maxLength: 6 }), tight: isTight })
    .map((drawn) => ({ plan, ...drawn })),
);

test.each(["memory", "directory"])(
  "regions that overlap, written one after another, leave what a naive model has (%s)",
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(overwritten, async ({ plan, boxes, tight }) => {
        const target = kind === "memory" ? { store: new MemoryStore(), path: "a/b" } : folder.next("a.zarr");
        const model = new NaiveArray(plan);
        const writer = await beginIn(target, plan, { tight });
        for (const [i, box] of boxes.entries()) {
          const values = valuesOf(product(box.shape), plan.itemSize, plan.seed + i);
          model.write(box, values);
          await writer.write(box, values);
        }
        await writer.close();
        expect(Buffer.from(await contentOf(target)).equals(model.bytes)).toBe(true);
      }),
      { numRuns: samples(kind === "memory" ? 200 : 40) },
    );
  },
);

/** Boxes that cut the array into tiles of another shape than its chunks, in random order. */
const tiled = plans.chain((plan) =>
  fc
    .record({
      tile: fc.tuple(...plan.shape.map((n) => fc.integer({ min: 1, max: n }))),
      order: fc.array(fc.nat(1e6), { minLength: 1, maxLength: 20 }),
      tight: isTight,
    })
    .map(({ tile, order, tight }) => ({ plan, tight, tiles: shuffled(tilesOf(plan, tile), order) })),
);

function tilesOf({ shape }: Plan, tile: readonly number[]) {
  const grid = shape.map((n, d) => Math.ceil(n / (tile[d] ?? 1)));
  return [...coordsOf(grid)].map((coords) => {
    const start = coords.map((c, d) => c * (tile[d] ?? 1));
    return { start, shape: start.map((from, d) => Math.min(tile[d] ?? 1, (shape[d] ?? 0) - from)) };
  });
}

function shuffled<T>(items: readonly T[], order: readonly number[]): T[] {
  return items
    .map((item, i) => ({ item, rank: Math.imul((order[i % order.length] ?? 0) + i, 2654435761) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

test.each(["memory", "directory"])(
  "tiles across chunks, all written at once in random order, leave what a naive model has (%s)",
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(tiled, async ({ plan, tiles, tight }) => {
        const target = kind === "memory" ? { store: new MemoryStore(), path: "" } : folder.next("a.zarr");
        const model = new NaiveArray(plan);
        const writer = await beginIn(target, plan, { concurrency: 3, tight });
        await Promise.all(
          tiles.map((box, i) => {
            const values = valuesOf(product(box.shape), plan.itemSize, plan.seed + i);
            model.write(box, values);
            return writer.write(box, values);
          }),
        );
        await writer.close();
        expect(Buffer.from(await contentOf(target)).equals(model.bytes)).toBe(true);
      }),
      { numRuns: samples(kind === "memory" ? 150 : 30) },
    );
  },
);
