import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parentHierarchyOf } from "../../../src/hierarchy/edit/parent.ts";
import {
  type CreateTarget,
  create,
  createGroup,
  deleteNode,
  open,
  openArray,
  resizeArray,
  setAttributes,
  slice,
} from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection, TestStore } from "../../streams/support.ts";
import { keysOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { expectTrueConsolidation } from "../fresh-consolidation.ts";
import { codeOf, everythingIn, logged } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

describe.each(["v2", "v3"] as const)("attributes of %s", (zarrFormat) => {
  const array = { shape: [3], dataType: "uint8", chunks: [2], dimensionNames: ["x"] } as const;
  const document = zarrFormat === "v2" ? ".zattrs" : "zarr.json";

  async function made() {
    const attributes = { units: "K", big: 2n ** 60n, old: 1 };
    const store = await given({ zarrFormat, arrays: { a: { ...array, attributes, values: null } } });
    return { store, node: await open({ store, path: "a" }) };
  }

  test("are patched: others stay, to the last digit, those that others set since too; undefined ones go", async () => {
    const { store, node } = await made();
    const changed = await setAttributes(node, { units: "m", old: undefined, more: [1, { a: null }] });
    expect(changed.attributes).toEqual({ units: "m", big: 2n ** 60n, more: [1, { a: null }] });
    expect((await open({ store, path: "a" })).attributes).toEqual(changed.attributes);
    expect(changed.metadata).toMatchObject({ dimensionNames: ["x"] });
    // v2 sorts them
    const names = ["units", "big", "more"];
    expect(Object.keys(changed.attributes)).toEqual(zarrFormat === "v2" ? names.sort() : names);
    expect((await setAttributes(node, { second: 2 })).attributes).toEqual({
      ...changed.attributes,
      second: 2,
    });
    expect((await setAttributes(node, { only: true }, { replace: true })).attributes).toEqual({ only: true });
    expect((await setAttributes(node, {}, { replace: true })).attributes).toEqual({});
  });

  test("change the document that holds them alone, and none when nothing changes", async () => {
    const { store, taken } = logged((await made()).store, "set", "delete");
    const node = await open({ store, path: "a" });
    await setAttributes(node, { units: "m" });
    expect(taken()).toEqual([`set a/${document}`]);
    await setAttributes(node, { units: "m", never: undefined });
    expect(taken()).toEqual([]);
  });

  test("that JSON cannot hold are refused, and nothing is written", async () => {
    const { store, node } = await made();
    expect(await codeOf(setAttributes(node, { f: () => 1 }))).toBe("invalid-option");
    const lost = { code: "loss-refused", details: { pointers: ["/attributes/n"] } };
    expect(await rejection(setAttributes(node, { n: Number.NaN }))).toMatchObject(lost);
    expect((await open({ store, path: "a" })).attributes).toMatchObject({ units: "K" });
    const changed = await setAttributes(node, { n: Number.NaN }, { allowLoss: ["/attributes/n"] });
    expect(changed.attributes).toMatchObject({ n: null });
  });

  test("are not set where the node is gone, or cannot be written", async () => {
    const { store, node } = await made();
    for (const key of await keysOf(store)) await store.delete(key);
    expect(await codeOf(setAttributes(node, { a: 1 }))).toBe("not-found");
    const zip = folder.next("a.zip");
    await (await create(zip, { ...array, zarrFormat })).close();
    expect(await codeOf(setAttributes(await open(zip), { a: 1 }))).toBe("unsupported-operation");
  });

  test("change in consolidated metadata, which lack the array before the change and have it after", async () => {
    const root = await given({
      ...{ at: folder.next("c.zarr"), zarrFormat, attributes: { title: "t" }, consolidated: true },
      arrays: { "inner/a": { ...array, attributes: { units: "K" }, values: null } },
    });
    const { store, taken } = logged(new DirectoryStore(root), "set", "delete");
    await setAttributes(await open({ store, path: "inner/a" }), { units: "m" });
    const told = `set ${zarrFormat === "v2" ? ".zmetadata" : "zarr.json"}`;
    const calls = taken().filter((call) => !call.includes(".zarrflow-"));
    expect(calls).toEqual([told, `set inner/a/${document}`, told]);
    await setAttributes(await open(`${root}/inner/a`), { by: "URL" });
    await setAttributes(await open(root), { title: "new" });
    expect((await open(root)).attributes).toEqual({ title: "new" });
    await expectTrueConsolidation(store);
  });
});

test("without attributes v2 has no document of them", async () => {
  const store = new MemoryStore();
  await (await createGroup(store, { zarrFormat: "v2", attributes: { a: 1 } })).close();
  await setAttributes(await open(store), { a: undefined });
  expect(await keysOf(store)).toEqual([".zgroup"]);
});

describe.each(["v2", "v3"] as const)("deleting nodes of %s", (zarrFormat) => {
  const document = zarrFormat === "v2" ? ".zgroup" : "zarr.json";
  const array = { shape: [3, 2], dataType: "uint8", chunks: [2, 2], values: [1, 2, 3, 4, 5, 6] };
  const filled = (at: CreateTarget) =>
    given({ at, zarrFormat, arrays: { a: array, "inner/a": array }, consolidated: true });

  test("an array, opened by its URL: others and what lists them stay; the root: every key", async () => {
    const root = folder.next("d.zarr");
    await filled(root);
    await deleteNode(await open(`${root}/inner/a`));
    const left = everythingIn(root).filter((name) => name.startsWith("inner/"));
    expect(left).toEqual(["inner/", `inner/${document}`]);
    await expectTrueConsolidation(new DirectoryStore(root));
    writeFileSync(`${root}/notes.txt`, "");
    await deleteNode(await open(root));
    expect(everythingIn(root)).toEqual([]);
  });

  test("a group: all documents go before any other key, its own first", async () => {
    const memory = new MemoryStore();
    await filled({ store: memory, path: "g" });
    await memory.set("g/notes.txt", new Uint8Array(1));
    const { store, taken } = logged(memory, "delete");
    await deleteNode(await open({ store, path: "g" }));
    expect(await keysOf(memory)).toEqual([document]);
    const deleted = [...new Set(taken())];
    const isDocument = (call: string) => /(?:\.z[a-z]+|zarr\.json|meta|attrs)$/.test(call);
    const firstOther = deleted.findIndex((call) => !isDocument(call));
    expect(deleted.slice(firstOther).filter(isDocument)).toEqual([]);
    const own = deleted.indexOf(`delete g/${document}`);
    expect(own).toBeGreaterThanOrEqual(0);
    expect(own).toBeLessThan(deleted.indexOf(`delete g/a/${zarrFormat === "v2" ? ".zarray" : "zarr.json"}`));
  });

  test("in a store that cannot list: an array by its grid, a group not at all; and none in a zip", async () => {
    const store = new TestStore();
    await filled(store);
    await deleteNode(await open({ store, path: "inner/a" }));
    expect([...store.values.keys()].filter((key) => key.startsWith("inner/a"))).toEqual([]);
    expect([...store.values.keys()].filter((key) => key.startsWith("a/"))).toHaveLength(3);
    expect(await codeOf(deleteNode(await open({ store, path: "inner" })))).toBe("unsupported-operation");
    expect((await open({ store, path: "inner" })).kind).toBe("group");
    const zip = folder.next("d.zip");
    await filled(zip);
    expect(await codeOf(deleteNode(await open(zip)))).toBe("unsupported-operation");
  });

  test("a signal stops it, with its reason", async () => {
    const store = new MemoryStore();
    await filled(store);
    const keys = await keysOf(store);
    const cause = new Error("enough");
    const stopped = deleteNode(await open({ store, path: "a" }), { signal: AbortSignal.abort(cause) });
    expect(await rejection(stopped)).toMatchObject({ code: "aborted", cause });
    expect(await keysOf(store)).toEqual(keys);
  });
});

describe("the hierarchy that a folder is part of", () => {
  test.each<[string, string[], string, string]>([
    ["is its own where nothing is around it", [], "x", ""],
    ["reaches up to a group", ["h*"], "h/t2m", "t2m"],
    ["reaches up over groups", ["h*", "h/a*"], "h/a/b", "a/b"],
    ["reaches over folders that are no nodes", ["h*", "h/a"], "h/a/b/c", "a/b/c"],
    ["has its root at a name", [], "new.zarr/a/b", "a/b"],
    ["reaches over a name to groups above", ["h*"], "h/new.zarr/a", "new.zarr/a"],
    ["does not reach over a name and a gap", ["h*", "h/data"], "h/data/new.zarr/a", "a"],
    ["does not reach over a gap from its own name", ["h*", "h/data"], "h/data/new.zarr", ""],
    ["is part of the group that it lies in, whatever its name", ["h*"], "h/new.zarr", "new.zarr"],
  ])("%s", async (_, folders, name, path) => {
    const root = folder.next("root");
    for (const made of folders) {
      const group = join(root, made.replace("*", ""));
      mkdirSync(group, { recursive: true });
      if (made.endsWith("*")) writeFileSync(join(group, ".zgroup"), '{"zarr_format": 2}');
    }
    const hierarchyAround = await parentHierarchyOf({ kind: "directory", path: join(root, name) });
    expect(hierarchyAround.path).toBe(path);
    const above = name.slice(0, name.length - path.length).replace(/\/$/, "");
    expect(hierarchyAround.store.description.endsWith(above)).toBe(true);
  });
});

const array = { shape: [5, 4], dataType: "uint8", chunks: [2, 2], fillValue: 9, codec: "none" } as const;
const items = Uint8Array.from({ length: 20 }, (_, i) => i + 10);
type Format = "v1" | "v2" | "v3-draft-2019" | "v3";

async function filled(store: MemoryStore | TestStore, zarrFormat: Format, more: object = {}) {
  await given({ at: { store, path: "a" }, ...array, zarrFormat, ...more, values: items });
  return openArray({ store, path: "a" });
}

describe.each<Format>(["v1", "v2", "v3-draft-2019", "v3"])("resizing an array of %s", (zarrFormat) => {
  const chunksOf = async (store: MemoryStore) =>
    (await keysOf(store)).filter((key) => /\d+[./]\d+$/.test(key)).length;

  test("it shrinks, and grows over what was kept", async () => {
    const store = new MemoryStore();
    const small = await resizeArray(await filled(store, zarrFormat), [3, 2]);
    expect(small.shape).toEqual([3, 2]);
    expect([...(await slice(small).read()).data]).toEqual([10, 11, 14, 15, 18, 19]);
    expect(await chunksOf(store)).toBe(6);
    const { data } = await slice(await resizeArray(small, [3, 5])).read();
    // the second column of chunks was kept; the third was never there
    expect([...data].join(" ")).toBe("10 11 12 13 9 14 15 16 17 9 18 19 20 21 9");
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
    expect((await openArray({ store, path: "a" })).shape).toEqual([5, 4]);
    expect(await chunksOf(store)).toBe(6);
  });
});

test("shards stay whole when their array is resized, and the grid is theirs", async () => {
  const store = new MemoryStore();
  const node = await filled(store, "v3", { shards: [4, 4] });
  const small = await resizeArray(node, [1, 1], { outside: "delete" });
  expect((await keysOf(store)).filter((key) => key.includes("c/"))).toEqual(["a/c/0/0"]);
  const large = await resizeArray(small, [4, 4]);
  expect([...(await slice(large).read()).data]).toEqual([...items.subarray(0, 16)]);
});

test("consolidated metadata stay true when an array is resized by its URL; a group has no shape", async () => {
  for (const zarrFormat of ["v2", "v3"] as const) {
    const root = await given({
      at: folder.next("r.zarr"),
      zarrFormat,
      arrays: { a: array },
      consolidated: true,
    });
    expect((await resizeArray(`${root}/a`, [7, 7])).shape).toEqual([7, 7]);
    await expectTrueConsolidation(new DirectoryStore(root));
    expect(await codeOf(resizeArray(root, [1]))).toBe("invalid-option");
  }
});

test("a store that cannot list deletes what the old grid has, and cannot tell what lies beyond", async () => {
  const store = new TestStore();
  const small = await resizeArray(await filled(store, "v2"), [2, 2], { outside: "delete" });
  expect([...store.values.keys()].filter((key) => /\d\.\d$/.test(key))).toEqual(["a/0.0"]);
  const refused = { code: "unsupported-operation", details: { store: "test store", path: "a" } };
  expect(await rejection(resizeArray(small, [4, 4], { outside: "delete" }))).toMatchObject(refused);
  expect((await resizeArray(small, [4, 4])).shape).toEqual([4, 4]);
});

test("documents change before chunks go, so that nobody misses what the shape promises", async () => {
  const memory = new MemoryStore();
  await filled(memory, "v2");
  const { store, taken } = logged(memory, "set", "delete");
  const node = await openArray({ store, path: "a" });
  await resizeArray(node, [2, 4], { outside: "delete", concurrency: 1 });
  expect(taken()).toEqual(["set a/.zarray", ...["1.0", "1.1", "2.0", "2.1"].map((at) => `delete a/${at}`)]);
});
