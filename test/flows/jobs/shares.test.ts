import fc from "fast-check";
import { expect, test } from "vitest";
import { allButShare, hasKeyOf, overlap, tasksOf, uncovered } from "../../../src/flows/jobs/run-share.ts";
import type { ArrayJob } from "../../../src/plan/plan.ts";
import { TaskSet } from "../../../src/run/scheduler.ts";

/** A plan of arrays with so many tasks, each of so many bytes. */
function planOf(arrays: readonly (readonly [tasks: number, bytes: number])[]) {
  let first = 0;
  const jobs = arrays.map(([tasks, bytes]) => {
    const side = { decodedSize: bytes };
    const counts = { firstTask: first, tasks, chunksRead: tasks, chunksWritten: tasks };
    const job = { ...counts, source: side, target: side } as unknown as ArrayJob;
    first += tasks;
    return job;
  });
  return { jobs, stages: [first] };
}

const plans = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 10_000_000 })), { maxLength: 6 })
  .map(planOf);
const counts = fc.integer({ min: 1, max: 60 });
const sharesOf = (count: number) => Array.from({ length: count }, (_, index) => ({ stage: 0, index, count }));

test("shares are neighbors, and together all tasks", () => {
  fc.assert(
    fc.property(plans, counts, (plan, count) => {
      let next = 0;
      for (const share of sharesOf(count)) {
        const { first, end } = tasksOf(plan, share);
        expect(first).toBe(next);
        expect(end).toBeGreaterThanOrEqual(first);
        next = end;
      }
      expect(next).toBe(plan.stages[0]);
    }),
  );
});

test("shares cost about the same: no more than a task's cost from their part", () => {
  const plan = planOf([
    [100, 1_000_000],
    [10, 40_000_000],
  ]);
  const bytesOf = (share: Parameters<typeof tasksOf>[1]) => {
    const { first, end } = tasksOf(plan, share);
    let bytes = 0;
    for (let task = first; task < end; task++) bytes += 2 * (task < 100 ? 1_000_000 : 40_000_000) + 65_536;
    return bytes;
  };
  const all = sharesOf(5).map(bytesOf);
  const mean = all.reduce((sum, bytes) => sum + bytes, 0) / 5;
  for (const bytes of all) expect(Math.abs(bytes - mean)).toBeLessThanOrEqual(80_100_000);
});

test("every key is one share's", () => {
  fc.assert(
    fc.property(fc.string(), counts, (key, count) => {
      expect(sharesOf(count).filter((share) => hasKeyOf(share)(key))).toHaveLength(1);
    }),
  );
});

test("a share leaves its own tasks to be run, unless they are done", () => {
  const plan = planOf([[20, 1000]]);
  const share = { stage: 0, index: 1, count: 4 };
  const done = TaskSet.empty(20);
  done.add(6);
  const others = allButShare(plan, share, done);
  const left = Array.from({ length: 20 }, (_, task) => task).filter((task) => !others.has(task));
  expect(left).toEqual([5, 7, 8, 9]);
});

test("shares of other counts overlap and cover as parts of a whole do", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 20 }))), counts, (pairs, count) => {
      const ended = pairs.flatMap(([index, of]) => (index < of ? [{ stage: 0, index, count: of }] : []));
      // a multiple of all counts up to 20, and of the one that is asked for
      const cells = 232_792_560 * count;
      const isCovered = ({ index }: { readonly index: number }) => {
        const to = (cells / count) * (index + 1);
        const places = ended.map((one) => [one.index, one.index + 1].map((i) => (cells / one.count) * i));
        let from = (cells / count) * index;
        for (const [start = 0, end = 0] of places.sort(([a = 0], [b = 0]) => a - b))
          if (start <= from) from = Math.max(from, end);
        return from >= to;
      };
      const expected = sharesOf(count).filter((share) => !isCovered(share));
      expect(uncovered(ended, 0, count)).toEqual(expected.map(({ index }) => index));
      for (const share of expected) {
        for (const one of ended) {
          const [after, before] = [
            one.index / one.count - (share.index + 1) / count,
            share.index / count - (one.index + 1) / one.count,
          ];
          if (Math.abs(after) > 1e-9 && Math.abs(before) > 1e-9)
            expect(overlap(one, share)).toBe(after < 0 && before < 0);
        }
      }
      expect(uncovered(ended, 1, count)).toHaveLength(count);
    }),
  );
});
