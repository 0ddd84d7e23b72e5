import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { create, createGroup } from "../../src/hierarchy/create/create.ts";
import { setAttributes } from "../../src/hierarchy/edit/attributes.ts";
import { deleteNode } from "../../src/hierarchy/edit/delete.ts";
import { open, openArray, openGroup } from "../../src/hierarchy/open/open.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { WritableStore } from "../../src/stores/store.ts";
import { keysOf } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";
import { BOOTSTRAP, DRAFT_ARRAY, draftStore } from "./draft-stores.ts";
import { everythingIn, jsonAt } from "./keys.ts";

const ARRAY = { shape: [4], chunks: [2], dataType: "int32", codec: "none" } as const;
const draft = "v3-draft-2019";

const make = (store: WritableStore, path: string, array: object = {}) =>
  given({ at: { store, path }, ...ARRAY, values: (i) => i + 1, ...array });

describe("creating", () => {
  it("writes the bootstrap document of a new hierarchy, and no groups above", async () => {
    const store = new MemoryStore();
    await make(store, "g/a", { zarrFormat: draft, attributes: { units: "m" } });
    expect(await keysOf(store)).toEqual(["data/g/a/0", "data/g/a/1", "meta/root/g/a.array", "zarr.json"]);
    expect(await jsonAt(store, "zarr.json")).toEqual(BOOTSTRAP);
    expect(await jsonAt(store, "meta/root/g/a.array")).toEqual({
      shape: [4],
      data_type: "<i4",
      chunk_grid: { type: "regular", chunk_shape: [2] },
      chunk_memory_layout: "C",
      fill_value: 0,
      extensions: [],
      attributes: { units: "m" },
    });
    expect((await openGroup(store)).documents.size).toBe(0);
  });

  it("takes the format of the hierarchy, and leaves its bootstrap document as it is", async () => {
    const own = { ...BOOTSTRAP, more: 1 };
    const store = await givenKeys({ "zarr.json": own });
    await make(store, "a");
    expect(await jsonAt(store, "zarr.json")).toEqual(own);
    expect((await openArray({ store, path: "a" })).layout.zarrFormat).toBe(draft);
    await expect(make(store, "b", { zarrFormat: "v2" })).rejects.toMatchObject({
      code: "invalid-option",
      details: { expected: draft },
    });
  });

  it("makes a root array where nothing else is, and nothing beside it", async () => {
    const store = await givenKeys({ "zarr.json": BOOTSTRAP });
    await make(store, "");
    expect(await keysOf(store)).toEqual(["data/0", "data/1", "meta/root.array", "zarr.json"]);
    await expect(make(store, "a")).rejects.toMatchObject({ code: "path-not-allowed" });
    await expect(make(await draftStore(), "")).rejects.toMatchObject({ code: "target-exists" });
  });

  it("refuses what is below an array, above nodes, or there", async () => {
    const store = await draftStore();
    const below = await make(store, "foo/baz/qux/a").catch((e) => e);
    expect(below).toMatchObject({ code: "path-not-allowed", details: { path: "foo/baz/qux/a" } });
    expect(below.message).toContain("below foo/baz/qux, an array");
    await expect(make(store, "foo")).rejects.toMatchObject({ code: "target-exists" });
    await expect(make(store, "top")).rejects.toMatchObject({ code: "target-exists" });
    await expect(make(store, "foo/bar")).rejects.toMatchObject({ code: "target-exists" });
    await store.set("data/left/0", new Uint8Array(8));
    await expect(make(store, "left")).rejects.toMatchObject({
      code: "target-not-empty",
      details: { key: "data/left/0" },
    });
  });

  it.each(["a//b", "a/", "//a", "a\\b"])("refuses the path %j as it stands", async (path) => {
    const store = await draftStore({ "meta/root/a/b.array": DRAFT_ARRAY });
    for (const act of [() => make(store, `/x${path}`), () => open({ store, path })]) {
      const error = await act().catch((e) => e);
      expect(["path-not-allowed", "invalid-node-name"]).toContain(error.code);
    }
  });

  it("makes a group without a document an explicit one", async () => {
    const store = await draftStore();
    await (await createGroup({ store, path: "foo" }, { attributes: { a: 1 } })).close();
    expect((await openGroup({ store, path: "foo" })).attributes).toEqual({ a: 1 });
    await expect(createGroup({ store, path: "foo" })).rejects.toMatchObject({ code: "target-exists" });
  });

  it.each([
    ["TOP", "top"],
    ["FOO", "foo"],
    ["foo/Baz/a", "foo/baz"],
    ["foo/BAR", "foo/bar"],
  ])("refuses %s beside %s", async (path, other) => {
    const error = await make(await draftStore(), path).catch((e) => e);
    expect(error).toMatchObject({ code: "invalid-node-name", details: { path, value: other } });
    expect(error.message).toContain(`\`${other}\``);
  });

  it("refuses members of a group that differ in case alone", async () => {
    const group = await createGroup({ store: new MemoryStore(), path: "" }, { zarrFormat: draft });
    await (await group.create("a", ARRAY)).close();
    await expect(group.create("A", ARRAY)).rejects.toMatchObject({ code: "invalid-node-name" });
    await expect(group.create("a b", ARRAY)).rejects.toMatchObject({ code: "invalid-node-name" });
    await group.close();
  });

  it("takes a store that cannot list at its word", async () => {
    const { list: _, listDirectory: __, ...store } = bound(await draftStore());
    const writer = await create({ store, path: "TOP" }, ARRAY);
    expect(writer.findings).toEqual([{ message: expect.stringContaining("cannot list") }]);
    await writer.close();
    expect((await openArray({ store, path: "TOP" })).kind).toBe("array");
    const listed = await create({ store: await draftStore(), path: "x" }, ARRAY);
    expect(listed.findings).toEqual([]);
  });

  it("replaces a node with all below it", async () => {
    const store = await draftStore({ "data/foo/baz/qux/0.0": "" });
    const writer = await create({ store, path: "foo" }, ARRAY, { ifExists: "replace" });
    await writer.close();
    expect((await keysOf(store)).filter((key) => key.includes("foo"))).toEqual(["meta/root/foo.array"]);
  });

  it("names what the draft cannot hold", async () => {
    await expect(make(await draftStore(), "c", { dataType: "complex64" })).rejects.toMatchObject({
      code: "loss-refused",
      details: { pointers: ["/data_type"] },
    });
  });
});

/** A store as an object of functions. */
function bound(store: MemoryStore) {
  return {
    description: "bound",
    get: store.get.bind(store),
    size: store.size.bind(store),
    set: store.set.bind(store),
    delete: store.delete.bind(store),
    openWriter: store.openWriter.bind(store),
    list: store.list.bind(store),
    listDirectory: store.listDirectory.bind(store),
  };
}

describe("in folders", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "zarrflow-draft-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("a node is made in the hierarchy around it", async () => {
    await given({ at: `${folder}/x.zarr/g/a`, ...ARRAY, zarrFormat: draft, values: null });
    await (await create(`${folder}/x.zarr/g/b`, ARRAY)).close();
    await (await createGroup(`${folder}/x.zarr/h`)).close();
    const files = everythingIn(folder).filter((name) => !name.endsWith("/"));
    expect(files).toEqual([
      "x.zarr/meta/root/g/a.array",
      "x.zarr/meta/root/g/b.array",
      "x.zarr/meta/root/h.group",
      "x.zarr/zarr.json",
    ]);
    await setAttributes(await open(`${folder}/x.zarr/g`), { a: 1 });
    await deleteNode(await open(`${folder}/x.zarr/g/b`));
    expect(everythingIn(folder)).toContain("x.zarr/meta/root/g.group");
    expect((await open(`${folder}/x.zarr/g`)).attributes).toEqual({ a: 1 });
  });

  it("a folder without a name for a root is one by its bootstrap document", async () => {
    await (await createGroup(`${folder}/outer`)).close();
    await (await createGroup(`${folder}/outer/plain`, { zarrFormat: "v3" })).close();
    const writer = await createGroup(`${folder}/draft`, { zarrFormat: draft });
    await writer.close();
    await (await create(`${folder}/draft/a`, ARRAY)).close();
    expect((await open(`${folder}/draft/a`)).layout.zarrFormat).toBe(draft);
    await deleteNode(await open(`${folder}/draft`));
    expect(everythingIn(`${folder}/draft`)).toEqual(["zarr.json"]);
  });

  it("a root is made explicit, or replaced by one of another format", async () => {
    const url = `${folder}/x.zarr`;
    await (await create(`${url}/a`, { ...ARRAY, zarrFormat: draft })).close();
    await (await createGroup(url, { attributes: { n: 1 } })).close();
    expect((await open(url)).attributes).toEqual({ n: 1 });
    expect((await open(`${url}/a`)).kind).toBe("array");
    await expect(createGroup(url, { zarrFormat: "v3" })).rejects.toMatchObject({ code: "invalid-option" });
    await (await createGroup(url, { zarrFormat: "v3" }, { ifExists: "replace" })).close();
    expect(everythingIn(url)).toEqual(["zarr.json"]);
    expect((await open(url)).layout.zarrFormat).toBe("v3");
    await (await createGroup(url, { zarrFormat: draft }, { ifExists: "replace" })).close();
    expect(everythingIn(url).filter((name) => !name.endsWith("/"))).toEqual(["meta/root.group", "zarr.json"]);
  });

  // D19-14
  it("a name that is too long with its suffix leaves nothing behind", async () => {
    const name = "x".repeat(255);
    await given({ at: `${folder}/x.zarr/a`, ...ARRAY, zarrFormat: draft, values: null });
    const error = await create(`${folder}/x.zarr/${name}`, ARRAY).catch((e) => e);
    expect(error).toMatchObject({ code: "path-not-allowed", details: { key: `meta/root/${name}.array` } });
    expect(everythingIn(folder).join()).not.toContain("xxx");
    expect((await open(`${folder}/x.zarr/a`)).kind).toBe("array");
  });
});

describe("attributes", () => {
  it("of a group without a document make it an explicit one", async () => {
    const store = await draftStore();
    const group = await setAttributes(await open({ store, path: "foo/baz" }), { n: 1 });
    expect(group.attributes).toEqual({ n: 1 });
    expect(await jsonAt(store, "meta/root/foo/baz.group")).toEqual({ extensions: [], attributes: { n: 1 } });
    await setAttributes(await open(store), { t: 2 });
    expect(await jsonAt(store, "meta/root.group")).toMatchObject({ attributes: { t: 2 } });
  });

  it("of an array change its document alone", async () => {
    const store = await draftStore();
    const before = await keysOf(store);
    await setAttributes(await open({ store, path: "top" }), { units: "K" });
    expect(await keysOf(store)).toEqual(before);
    expect(await jsonAt(store, "meta/root/top.array")).toEqual({
      ...DRAFT_ARRAY,
      attributes: { units: "K" },
    });
  });
});

describe("deleting", () => {
  const chunks = { "data/foo/baz/qux/0.0": "", "data/foo/baz/quxx/0.0": "", "data/top/0.0": "" };

  it("an array takes both trees, and the groups that only it implied", async () => {
    const store = await draftStore(chunks);
    await deleteNode(await open({ store, path: "foo/baz/qux" }));
    const keys = await keysOf(store);
    expect(keys.filter((key) => key.includes("qux"))).toEqual(["data/foo/baz/quxx/0.0"]);
    await expect(open({ store, path: "foo/baz" })).rejects.toMatchObject({ code: "not-found" });
  });

  it("a group takes all below it", async () => {
    const store = await draftStore({ ...chunks, "meta/root/foo.group": { extensions: [], attributes: {} } });
    await deleteNode(await open({ store, path: "foo" }));
    expect((await keysOf(store)).filter((key) => key.includes("foo"))).toEqual([]);
    expect(await keysOf(store)).toContain("data/top/0.0");
  });

  it("the root leaves the bootstrap document", async () => {
    const store = await draftStore({ ...chunks, README: "x" });
    await deleteNode(await open(store));
    expect(await keysOf(store)).toEqual(["zarr.json"]);
  });

  it("an array needs no listing, a group does", async () => {
    const whole = await draftStore(chunks);
    const { list: _, listDirectory: __, ...store } = bound(whole);
    await deleteNode(await open({ store, path: "top" }));
    expect((await keysOf(whole)).filter((key) => key.includes("top"))).toEqual([]);
    await expect(deleteNode(await open({ store, path: "foo/bar" }))).rejects.toMatchObject({
      code: "unsupported-operation",
    });
  });
});
