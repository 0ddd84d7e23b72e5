import { expect, it } from "vitest";
import { GrowingSlab } from "../../../src/flows/slabs/growing-slab.ts";
import type { Slab } from "../../../src/flows/slabs/slab.ts";
import { SlabQueue } from "../../../src/flows/slabs/slab-queue.ts";
import { rejection } from "../../streams/support.ts";
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
