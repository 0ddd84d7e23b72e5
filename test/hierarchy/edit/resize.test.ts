import { describe, expect, test } from "vitest";
import { createGroup, open, openArray, resizeArray, slice } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection, TestStore } from "../../streams/support.ts";
import { keysOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { expectTrueConsolidation } from "../fresh-consolidation.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

const zarrFormats = ["v1", "v2", "v3-draft-2019", "v3"] as const;
const array = { shape: [5, 4], dataType: "uint8", chunks: [2, 2], fillValue: 9, codec: "none" } as const;
const items = Uint8Array.from({ length: 20 }, (_, i) => i + 10);

async function filled(
  store: MemoryStore | TestStore,
  zarrFormat: (typeof zarrFormats)[number],
  more: object = {},
) {
  await given({ at: { store, path: "a" }, ...array, zarrFormat, ...more, values: items });
  const node = await open({ store, path: "a" });
  if (node.kind === "group") throw new Error("a group");
  return node;
}

const chunksOf = async (store: MemoryStore) =>
  (await keysOf(store)).filter((key) => /\d+[./]\d+$/.test(key)).length;

describe.each(zarrFormats)("resizing an array of %s", (zarrFormat) => {
  test("it shrinks, and grows over what was kept", async () => {
    const store = new MemoryStore();
    const small = await resizeArray(await filled(store, zarrFormat), [3, 2]);
    expect(small.shape).toEqual([3, 2]);
    expect([...(await slice(small).read()).data]).toEqual([10, 11, 14, 15, 18, 19]);
    expect(await chunksOf(store)).toBe(6);
    const large = await resizeArray(small, [3, 5]);
    // the second column of chunks was kept; the third was never there
    expect([...(await slice(large).read()).data]).toEqual([
      10, 11, 12, 13, 9, 14, 15, 16, 17, 9, 18, 19, 20, 21, 9,
    ]);
  });

  test("on request without the chunks outside, after it shrinks and before it grows", async () => {
    const store = new MemoryStore();
    const small = await resizeArray(await filled(store, zarrFormat), [2, 2], { outside: "delete" });
    expect(await chunksOf(store)).toBe(1);
    const kept = await resizeArray(await filled(new MemoryStore(), zarrFormat), [2, 2]);
    for (const one of [small, kept]) {
      const large = await resizeArray(one, [3, 3], { outside: "delete" });
      expect([...(await slice(large).read()).data]).toEqual([10, 11, 9, 14, 15, 9, 9, 9, 9]);
    }
  });

  test("what is no shape is refused, and nothing is changed", async () => {
    const store = new MemoryStore();
    const node = await filled(store, zarrFormat);
    for (const shape of [[5], [5, 4, 1], [-1, 4], [1.5, 4], [2 ** 53, 4]]) {
      const refused = await rejection(resizeArray(node, shape, { outside: "delete" }));
      expect(refused).toMatchObject({ code: "invalid-option", details: { path: "a" } });
    }
    expect((await open({ store, path: "a" })).metadata).toMatchObject({ shape: [5, 4] });
    expect(await chunksOf(store)).toBe(6);
  });
});

test("shards stay whole, and the grid is theirs", async () => {
  const store = new MemoryStore();
  const node = await filled(store, "v3", { shards: [4, 4] });
  const small = await resizeArray(node, [1, 1], { outside: "delete" });
  expect((await keysOf(store)).filter((key) => key.includes("c/"))).toEqual(["a/c/0/0"]);
  const large = await resizeArray(small, [4, 4]);
  expect([...(await slice(large).read()).data]).toEqual([...items.subarray(0, 16)]);
});

test("consolidated metadata of the groups above stay true, by a URL too", async () => {
  const root = folder.next("r.zarr");
  for (const zarrFormat of ["v2", "v3"] as const) {
    const group = await createGroup(root, { zarrFormat }, { consolidated: true, ifExists: "replace" });
    await (await group.create("a", array)).close();
    await group.close();
    expect((await resizeArray(`${root}/a`, [7, 7])).shape).toEqual([7, 7]);
    await expectTrueConsolidation(new DirectoryStore(root));
    expect(await rejection(resizeArray(root, [1]))).toMatchObject({ code: "invalid-option" });
  }
});

test("a store that cannot list deletes what the old grid has, and cannot tell what lies beyond", async () => {
  const store = new TestStore();
  const small = await resizeArray(await filled(store, "v2"), [2, 2], { outside: "delete" });
  expect([...store.values.keys()].filter((key) => /\d\.\d$/.test(key))).toEqual(["a/0.0"]);
  expect(await rejection(resizeArray(small, [4, 4], { outside: "delete" }))).toMatchObject({
    code: "unsupported-operation",
    details: { store: "test store", path: "a" },
  });
  expect((await resizeArray(small, [4, 4])).shape).toEqual([4, 4]);
});

test("documents change before chunks go, so that nobody misses what the shape promises", async () => {
  const store = new MemoryStore();
  await filled(store, "v2");
  const done: string[] = [];
  const log = withRequestLog(store, ({ operation, key }) => {
    if (operation === "set" || operation === "delete") done.push(`${operation} ${key}`);
  });
  const node = await openArray({ store: log, path: "a" });
  await resizeArray(node, [2, 4], { outside: "delete", concurrency: 1 });
  expect(done).toEqual(["set a/.zarray", ...["1.0", "1.1", "2.0", "2.1"].map((at) => `delete a/${at}`)]);
});
