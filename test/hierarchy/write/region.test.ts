import { describe, expect, test } from "vitest";
import { create, openArray, slice, writeRegion } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { WritableStore } from "../../../src/stores/store.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection, TestStore } from "../../streams/support.ts";
import { keysOf } from "../../support/consume.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

const array = {
  shape: [5, 6],
  dataType: "int16",
  chunks: [2, 4],
  dimensionNames: ["y", "x"],
  codec: "none",
} as const;
const ramp = Int16Array.from({ length: 30 }, (_, i) => i + 1);

async function opened<S extends WritableStore>(options: object, store: S) {
  const writer = await create(store, { ...array, ...options });
  await writer.write([], ramp);
  await writer.close();
  return { store, array: await openArray(store) };
}

describe("writing a region of an open array", () => {
  test.each([
    ["by name", { y: [1, 3], x: [2, 6] }],
    [
      "in order",
      [
        [1, 3],
        [2, null],
      ],
    ],
    ["as a box", { start: [1, 2], shape: [2, 4] }],
  ] as const)("%s", async (_, region) => {
    const { array } = await opened({}, new MemoryStore());
    await writeRegion(array, region, new Int16Array(8).fill(-1));
    const expected = ramp.slice();
    for (const y of [1, 2]) expected.fill(-1, 6 * y + 2, 6 * y + 6);
    expect((await slice(array).read()).data).toEqual(expected);
  });

  test("one index takes one item of a dimension", async () => {
    const { array } = await opened({}, new MemoryStore());
    await writeRegion(array, { x: -1 }, Int16Array.of(-1, -2, -3, -4, -5));
    expect((await slice(array, { x: 5 }).read()).data).toEqual(Int16Array.of(-1, -2, -3, -4, -5));
  });

  test("in a folder, opened by its URL", async () => {
    const root = folder.next("a.zarr");
    await (await create(`${root}/t2m`, array)).close();
    await writeRegion(await openArray(`${root}/t2m`), [0, 0], [12]);
    expect((await slice(`${root}/t2m`, [0]).read()).data).toEqual(Int16Array.of(12, 0, 0, 0, 0, 0));
  });

  test("reads a chunk that it covers in part, and no other", async () => {
    const { store } = await opened({}, new MemoryStore());
    const calls: string[] = [];
    const log = withRequestLog(store, ({ operation, key }) => {
      if (key.startsWith("c/")) calls.push(`${operation} ${key}`);
    });
    const array = await openArray(log);
    calls.length = 0;
    await writeRegion(array, [[0, 3]], new Int16Array(18).fill(3));
    expect(calls.sort()).toEqual([
      "get c/1/0",
      "get c/1/1",
      "set c/0/0",
      "set c/0/1",
      "set c/1/0",
      "set c/1/1",
    ]);
    calls.length = 0;
    await writeRegion(array, [[4, 5]], new Int16Array(6));
    expect(calls.filter((call) => call.startsWith("get"))).toEqual([]);
  });

  test("removes a chunk that then holds nothing but the fill value, unless asked to keep it", async () => {
    const { store, array } = await opened({}, new MemoryStore());
    await writeRegion(
      array,
      [
        [0, 2],
        [0, 4],
      ],
      new Int16Array(8),
    );
    await writeRegion(
      array,
      [
        [2, 4],
        [0, 3],
      ],
      new Int16Array(6),
    );
    expect(await keysOf(store)).not.toContain("c/0/0");
    expect(await keysOf(store)).toContain("c/1/0");
    await writeRegion(array, [[2, 4], 3], new Int16Array(2));
    expect(await keysOf(store)).not.toContain("c/1/0");
    await writeRegion(
      array,
      [
        [0, 2],
        [0, 4],
      ],
      new Int16Array(8),
      { writeEmpty: true },
    );
    expect(await keysOf(store)).toContain("c/0/0");
    const expected = ramp.slice();
    for (const y of [0, 1, 2, 3]) expected.fill(0, 6 * y, 6 * y + 4);
    expect((await slice(array).read()).data).toEqual(expected);
  });

  test("an empty region writes nothing", async () => {
    const { array } = await opened({}, new MemoryStore());
    await writeRegion(array, [[2, 2]], new Int16Array(0));
    expect((await slice(array).read()).data).toEqual(ramp);
  });

  test("strings in the middle of chunks", async () => {
    const store = new MemoryStore();
    const words = { shape: [5], dataType: "string" as const, chunks: [3], fillValue: "-" };
    await (await create(store, words)).close();
    const array = await openArray(store);
    await writeRegion(array, [[1, 4]], ["long words", "", "ä"]);
    await writeRegion(array, [2], ["in between"]);
    expect([...(await slice(array).read()).data]).toEqual(["-", "long words", "in between", "ä", "-"]);
  });

  test("strings in F order, in parts of chunks", async () => {
    const store = new MemoryStore();
    const words = { shape: [3, 5], dataType: "string", chunks: [2, 3], order: "F" } as const;
    await (await create(store, words)).close();
    const array = await openArray(store);
    const model = Array.from({ length: 15 }, (_, i) => "abc".repeat(i % 3) + i);
    await writeRegion(
      array,
      [
        [0, 3],
        [0, 2],
      ],
      model.filter((_, i) => i % 5 < 2),
    );
    await writeRegion(
      array,
      [
        [0, 3],
        [2, 5],
      ],
      model.filter((_, i) => i % 5 >= 2),
    );
    expect([...(await slice(array).read()).data]).toEqual(model);
  });

  test.each([
    ["beyond the array", [[0, 6]], "invalid-selection"],
    ["of another rank", [0, 0, 0], "invalid-selection"],
    ["with steps", [[0, 5, 2]], "invalid-selection"],
    ["of a name that is none", { z: 0 }, "invalid-selection"],
    ["a box beyond it", { start: [4, 0], shape: [2, 6] }, "invalid-selection"],
    ["a box before it", { start: [-1, 0], shape: [1, 6] }, "invalid-selection"],
    ["a box of another rank", { start: [0], shape: [1] }, "invalid-selection"],
    ["a box of fractions", { start: [0.5, 0], shape: [1, 6] }, "invalid-selection"],
  ])("a region %s", async (_, region, code) => {
    const { array } = await opened({}, new MemoryStore());
    expect(await rejection(writeRegion(array, region as never, ramp))).toMatchObject({ code });
  });

  test("a store that cannot be written, and a zip", async () => {
    const zip = folder.next("a.zip");
    const whole = await create(zip, array);
    await whole.write([[0, 4]], ramp.subarray(0, 24));
    await whole.write([4], ramp.subarray(24));
    await whole.close();
    const inZip = await openArray(zip);
    expect((await slice(inZip).read()).data).toEqual(ramp);
    expect(await rejection(writeRegion(inZip, [0], ramp.subarray(0, 6)))).toMatchObject({
      code: "unsupported-operation",
    });
  });

  test("a chunk that cannot be read back: where and why; a later call is not held up", async () => {
    const store = new TestStore();
    const writer = await create(store, { ...array, codec: "gzip" });
    await writer.write([], ramp);
    await writer.close();
    store.values.set("c/0/1", Uint8Array.of(1, 2, 3));
    const target = await openArray(store);
    const error = await rejection(writeRegion(target, [0], new Int16Array(6)));
    expect(error).toMatchObject({
      code: "corrupt-chunk",
      details: { path: "", coords: [0, 1], key: "c/0/1" },
    });
    await writeRegion(target, [[0, 2]], new Int16Array(12).fill(9));
    expect((await slice(target, [1]).read()).data).toEqual(new Int16Array(6).fill(9));
  });

  test("calls that were aborted do not hold up later ones", async () => {
    const store = new TestStore();
    const { array } = await opened({}, store);
    const controller = new AbortController();
    store.beforeGet = () => controller.abort(new Error("enough"));
    const first = rejection(
      writeRegion(array, [[0, 5], 0], new Int16Array(5), { signal: controller.signal, concurrency: 1 }),
    );
    const second = writeRegion(array, [[0, 5], 1], new Int16Array(5).fill(-1), { concurrency: 1 });
    expect(await first).toMatchObject({ code: "aborted", cause: new Error("enough") });
    await second;
    store.beforeGet = () => {};
    expect((await slice(array, [null, 1]).read()).data).toEqual(new Int16Array(5).fill(-1));
  });
});
