import { describe, expect, test } from "vitest";
import { type CreateTarget, open, renameNode } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection, TestStore } from "../../streams/support.ts";
import { contentsOf, itemsOf, keysOf, valuesIn } from "../../support/consume.ts";
import { given, givenKeys } from "../../support/given.ts";
import { DRAFT_GROUP, draftStore } from "../draft-stores.ts";
import { expectTrueConsolidation } from "../fresh-consolidation.ts";
import { codeOf, everythingIn, logged } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

/** A group with `a`, `g/a` and `g/h/a`, all of it consolidated. */
function filled<T extends CreateTarget>(at: T, zarrFormat: "v2" | "v3"): Promise<T> {
  const grid = { shape: [3, 2], dataType: "uint8", chunks: [2, 2], values: (i: number) => i + 1 };
  const a = (i: number) => ({ ...grid, attributes: { i } });
  const arrays = { a: a(0), "g/a": a(1), "g/h/a": a(2) };
  return given({ at, zarrFormat, attributes: { title: "t" }, arrays, consolidated: true });
}

describe.each(["v2", "v3"] as const)("renaming nodes of %s", (zarrFormat) => {
  const document = zarrFormat === "v2" ? ".zgroup" : "zarr.json";

  test.each([
    ["memory", () => new MemoryStore()],
    ["a directory", () => new DirectoryStore(folder.next("r.zarr"))],
  ])("an array and a group with all below them, in %s", async (_, make) => {
    const store = await filled<MemoryStore | DirectoryStore>(make(), zarrFormat);
    const before = await keysOf(store);
    const renamed = await renameNode(await open({ store, path: "a" }), "b");
    expect(renamed).toMatchObject({ path: "b", kind: "array", attributes: { i: 0 } });
    expect(await keysOf(store)).toEqual(before.map((key) => key.replace(/^a\//, "b/")).sort());
    const group = await renameNode(await open({ store, path: "g" }), "new/place");
    expect(group).toMatchObject({ path: "new/place", kind: "group" });
    const keys = before.map((key) => key.replace(/^a\//, "b/").replace(/^g\//, "new/place/"));
    expect(await keysOf(store)).toEqual([...keys, `new/${document}`].sort());
    expect(await itemsOf(store, "new/place/h/a")).toEqual([1, 2, 3, 4, 5, 6]);
    await expectTrueConsolidation(store);
  });

  test("a node that was opened by its own URL moves in the hierarchy around it", async () => {
    const root = await filled(folder.next("r.zarr"), zarrFormat);
    const renamed = await renameNode(`${root}/g/h`, "/x/");
    expect(renamed).toMatchObject({ path: "x", spec: { kind: "directory", path: root } });
    expect(await itemsOf(new DirectoryStore(root), "x/a")).toEqual([1, 2, 3, 4, 5, 6]);
    expect(everythingIn(root).filter((name) => name.startsWith("g/h"))).toEqual([]);
    await expectTrueConsolidation(new DirectoryStore(root));
  });

  test("moves everything in one call of the store", async () => {
    const { store, taken } = logged(await filled(new MemoryStore(), zarrFormat), "set", "delete", "rename");
    await renameNode(await open({ store, path: "g" }), "h");
    const told = zarrFormat === "v2" ? "set .zmetadata" : "set zarr.json";
    expect(taken()).toEqual([told, "rename g/", told]);
  });

  test("what is in the way is refused, and nothing is changed", async () => {
    const store = await filled(new MemoryStore(), zarrFormat);
    await store.set("left/0.0", new Uint8Array(1));
    const before = await contentsOf(store);
    for (const [from, to, code] of [
      ["a", "g", "target-exists"],
      ["a", "a", "target-exists"],
      ["g", "g/h/i", "path-not-allowed"],
      ["g/h", "a/h", "path-not-allowed"],
      ["g/h", "g", "target-exists"],
      ["", "x", "path-not-allowed"],
      ["a", "", "path-not-allowed"],
      ["a", "../x", "path-not-allowed"],
      ["a", "left", "target-not-empty"],
      ["a", zarrFormat === "v2" ? "ü" : "__x", "invalid-node-name"],
    ] as const)
      expect(await codeOf(renameNode(await open({ store, path: from }), to)), `${from} to ${to}`).toBe(code);
    expect(await contentsOf(store)).toEqual(before);
  });

  test("a store that cannot rename says so", async () => {
    const store = await filled(new TestStore(), zarrFormat);
    const before = [...store.values.keys()];
    const code = "unsupported-operation";
    const refused = renameNode(await open({ store, path: "a" }), "b");
    expect(await rejection(refused)).toMatchObject({ code, details: { store: "test store", path: "a" } });
    expect([...store.values.keys()]).toEqual(before);
    const zip = await filled(folder.next("r.zip"), zarrFormat);
    expect(await rejection(renameNode(`${zip}/a`, "b"))).toMatchObject({
      code,
      details: { store: `zip ${zip}` },
    });
  });

  test("when the store fails, all is as it was", async () => {
    const store = await filled(new MemoryStore(), zarrFormat);
    const node = await open({ store, path: "g" });
    const before = await contentsOf(store);
    const reason = new Error("the disk is gone");
    store.rename = () => Promise.reject(reason);
    expect(await rejection(renameNode(node, "x"))).toBe(reason);
    await expectTrueConsolidation(store);
    const told = { ".zmetadata": undefined, "zarr.json": undefined };
    expect({ ...(await contentsOf(store)), ...told }).toEqual({ ...before, ...told });
  });
});

test("a node without a document of its own is not moved with what lists it", async () => {
  const store = await filled(new MemoryStore(), "v2");
  for (const key of await keysOf(store)) if (/\.z(?:array|group|attrs)$/.test(key)) await store.delete(key);
  const before = await contentsOf(store);
  expect(await codeOf(renameNode(await open({ store, path: "a" }), "b"))).toBe("not-found");
  expect(await contentsOf(store)).toEqual(before);
});

test("an array of v1 keeps its keys", async () => {
  const array = { shape: [4], dataType: "uint8", chunks: [2], zarrFormat: "v1", values: null } as const;
  const { store } = await given({ at: { store: new MemoryStore(), path: "x/a" }, ...array });
  const before = await keysOf(store);
  expect(await renameNode(await open({ store, path: "x/a" }), "y")).toMatchObject({ path: "y", shape: [4] });
  expect(await keysOf(store)).toEqual(before.map((key) => key.replace("x/a/", "y/")));
});

test("a node of another format than the groups around its new path stays", async () => {
  const store = new MemoryStore();
  for (const [path, zarrFormat] of [
    ["two", "v2"],
    ["three", "v3"],
  ] as const) {
    await filled({ store, path }, zarrFormat);
    for (const key of await keysOf(store)) if (!/^(?:two|three)\//.test(key)) await store.delete(key);
  }
  const error = await rejection(renameNode(await open({ store, path: "two/a" }), "three/b"));
  expect(error).toMatchObject({ code: "invalid-option", details: { expected: "v3" } });
  expect(await keysOf(store)).toContain("two/a/.zarray");
});

describe("renaming nodes of the 2019 draft", () => {
  const chunks = { "data/foo/baz/qux/0.0": "0", "data/foo/baz/quxx/0.0": "1", "data/top/0.0": "2" };
  const withFoo = () => draftStore({ ...chunks, "meta/root/foo.group": DRAFT_GROUP });

  test("both trees move", async () => {
    const store = await withFoo();
    const below = async (name: string) => (await keysOf(store)).filter((key) => key.includes(name));
    const group = await renameNode(await open({ store, path: "foo" }), "a/b");
    expect(group).toMatchObject({ kind: "group", path: "a/b" });
    expect(await below("foo")).toEqual([]);
    expect(await below("a/b")).toEqual([
      ...["data/a/b/baz/qux/0.0", "data/a/b/baz/quxx/0.0"],
      ...["meta/root/a/b.group", "meta/root/a/b/bar.group", "meta/root/a/b/baz/qux.array"],
    ]);
    const array = await renameNode(await open({ store, path: "top" }), "/Top");
    expect(array).toMatchObject({ kind: "array", path: "Top" });
    expect(await below("op")).toEqual(["data/Top/0.0", "meta/root/Top.array"]);
  });

  test("a group without a document too, in folders", async () => {
    const root = folder.next("d.zarr");
    await givenKeys(Object.fromEntries(await valuesIn(await draftStore(chunks))), new DirectoryStore(root));
    await renameNode(`${root}/foo/baz`, "moved");
    expect(everythingIn(root).filter((name) => /(?:baz|moved).*[^/]$/.test(name))).toEqual([
      ...["data/moved/qux/0.0", "data/moved/quxx/0.0", "meta/root/moved/qux.array"],
    ]);
    expect(everythingIn(root).join()).not.toContain("baz");
  });

  test.each([
    ["top", "FOO", "invalid-node-name"],
    ["top", "foo/BAR", "invalid-node-name"],
    ["top", "foo", "target-exists"],
    ["foo/bar", "foo", "target-exists"],
    ["foo", "top/x", "path-not-allowed"],
    ["foo", "foo/x", "path-not-allowed"],
    ["top", "a//b", "path-not-allowed"],
    ["top", "left", "target-not-empty"],
  ])("%s to %s is %s", async (from, to, code) => {
    const store = await draftStore({ ...chunks, "data/left/0": "" });
    const before = await contentsOf(store);
    expect(await codeOf(renameNode(await open({ store, path: from }), to))).toBe(code);
    expect(await contentsOf(store)).toEqual(before);
  });

  test.each([0, 1, 2, 3, 4, 5, 6])("cut short after %i moves, no array lacks its chunks", async (moves) => {
    const store = await withFoo();
    const node = await open({ store, path: "foo" });
    const rename = store.rename.bind(store);
    let left = moves;
    await new Promise<void>((cut) => {
      store.rename = (from, to) => {
        if (left-- > 0) return rename(from, to);
        cut();
        return new Promise(() => {});
      };
      renameNode(node, "a").then(() => cut(), cut);
    });
    for (const path of ["foo/baz/qux", "a/baz/qux"]) {
      const hasDocument = (await store.size(`meta/root/${path}.array`)) !== undefined;
      const hasChunk = (await store.size(`data/${path}/0.0`)) !== undefined;
      if (hasDocument) expect(hasChunk, path).toBe(true);
    }
  });

  test.each([0, 1, 2, 3, 4, 5, 6])("a failure after %i moves leaves all as it was", async (moves) => {
    const store = await withFoo();
    const before = await contentsOf(store);
    const node = await open({ store, path: "foo" });
    const rename = store.rename.bind(store);
    const reason = new Error("no more");
    let count = 0;
    store.rename = (from, to) => (count++ === moves ? Promise.reject(reason) : rename(from, to));
    expect(await rejection(renameNode(node, "a"))).toBe(reason);
    expect(await contentsOf(store)).toEqual(before);
  });
});
