import { describe, expect, test } from "vitest";
import { create, openArray, slice, writeRegion } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { WritableStore } from "../../../src/stores/store.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection, TestStore } from "../../streams/support.ts";
import { keysOf } from "../../support/consume.ts";
import { codeOf, logged } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

const array = {
  ...({ shape: [5, 6], dataType: "int16", chunks: [2, 4], dimensionNames: ["y", "x"] } as const),
  codec: "none",
} as const;
const ramp = Int16Array.from({ length: 30 }, (_, i) => i + 1);

/** Rows and columns from one to another. */
const rows = (y0: number, y1: number, x0: number, x1: number | null) =>
  [
    [y0, y1],
    [x0, x1],
  ] as const;

async function opened<S extends WritableStore | string>(options: object, store: S) {
  const writer = await create(store, { ...array, ...options });
  await writer.write([], ramp);
  await writer.close();
  return { store, array: await openArray(store) };
}

describe("writing a region of an open array", () => {
  test.each([
    ["by name", { y: [1, 3], x: [2, 6] }],
    ["in order", rows(1, 3, 2, null)],
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
    const { store, taken } = logged((await opened({}, new MemoryStore())).store);
    const array = await openArray(store);
    taken();
    await writeRegion(array, [[0, 3]], new Int16Array(18).fill(3));
    const all = ["set c/0/0", "set c/0/1", "set c/1/0", "set c/1/1"];
    expect(
      taken()
        .filter((call) => call.includes("c/"))
        .sort(),
    ).toEqual(["get c/1/0", "get c/1/1", ...all]);
    await writeRegion(array, [[4, 5]], new Int16Array(6));
    expect(taken().filter((call) => call.startsWith("get c/"))).toEqual([]);
  });

  test("removes a chunk that then holds nothing but the fill value, unless asked to keep it", async () => {
    const { store, array } = await opened({}, new MemoryStore());
    await writeRegion(array, rows(0, 2, 0, 4), new Int16Array(8));
    await writeRegion(array, rows(2, 4, 0, 3), new Int16Array(6));
    expect(await keysOf(store)).not.toContain("c/0/0");
    expect(await keysOf(store)).toContain("c/1/0");
    await writeRegion(array, [[2, 4], 3], new Int16Array(2));
    expect(await keysOf(store)).not.toContain("c/1/0");
    await writeRegion(array, rows(0, 2, 0, 4), new Int16Array(8), { writeEmptyChunks: true });
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
      rows(0, 3, 0, 2),
      model.filter((_, i) => i % 5 < 2),
    );
    await writeRegion(
      array,
      rows(0, 3, 2, 5),
      model.filter((_, i) => i % 5 >= 2),
    );
    expect([...(await slice(array).read()).data]).toEqual(model);
  });

  test.each([
    ["beyond the array", [[0, 6]]],
    ["of another rank", [0, 0, 0]],
    ["with steps", [[0, 5, 2]]],
    ["of a name that is none", { z: 0 }],
    ["a box beyond it", { start: [4, 0], shape: [2, 6] }],
    ["a box before it", { start: [-1, 0], shape: [1, 6] }],
    ["a box of another rank", { start: [0], shape: [1] }],
    ["a box of fractions", { start: [0.5, 0], shape: [1, 6] }],
  ])("a region %s is refused", async (_, region) => {
    const { array } = await opened({}, new MemoryStore());
    expect(await codeOf(writeRegion(array, region as never, ramp))).toBe("invalid-selection");
  });

  test("a zip cannot be written again", async () => {
    const { array: inZip } = await opened({}, folder.next("a.zip"));
    expect((await slice(inZip).read()).data).toEqual(ramp);
    expect(await codeOf(writeRegion(inZip, [0], ramp.subarray(0, 6)))).toBe("unsupported-operation");
  });

  test("a chunk that cannot be read back: where and why; a later call is not held up", async () => {
    const store = new TestStore();
    const { array: target } = await opened({ codec: "gzip" }, store);
    store.values.set("c/0/1", Uint8Array.of(1, 2, 3));
    const error = await rejection(writeRegion(target, [0], new Int16Array(6)));
    const details = { path: "", coords: [0, 1], key: "c/0/1" };
    expect(error).toMatchObject({ code: "corrupt-chunk", details });
    await writeRegion(target, [[0, 2]], new Int16Array(12).fill(9));
    expect((await slice(target, [1]).read()).data).toEqual(new Int16Array(6).fill(9));
  });

  test("calls that were aborted do not hold up later ones", async () => {
    const store = new TestStore();
    const { array } = await opened({}, store);
    const controller = new AbortController();
    store.beforeGet = () => controller.abort(new Error("enough"));
    const one = { signal: controller.signal, concurrency: 1 };
    const first = rejection(writeRegion(array, [[0, 5], 0], new Int16Array(5), one));
    const second = writeRegion(array, [[0, 5], 1], new Int16Array(5).fill(-1), { concurrency: 1 });
    expect(await first).toMatchObject({ code: "aborted", cause: new Error("enough") });
    await second;
    store.beforeGet = () => {};
    expect((await slice(array, [null, 1]).read()).data).toEqual(new Int16Array(5).fill(-1));
  });
});
