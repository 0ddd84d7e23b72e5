import { expect, it } from "vitest";
import { type Slab, SlabQueue } from "../../../src/flows/slabs/slab-queue.ts";
import { rejection } from "../../streams/support.ts";

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
