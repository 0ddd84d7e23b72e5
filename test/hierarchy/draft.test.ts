import { describe, expect, it } from "vitest";
import { create, createGroup } from "../../src/hierarchy/create/create.ts";
import { deleteNode } from "../../src/hierarchy/edit/delete.ts";
import { setAttributes } from "../../src/hierarchy/edit/metadata.ts";
import type { ZarrGroup } from "../../src/hierarchy/node.ts";
import { open, openArray, openGroup } from "../../src/hierarchy/open/open.ts";
import { walk } from "../../src/hierarchy/open/walk.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { WritableStore } from "../../src/stores/store.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues } from "../stores/value-server.ts";
import { rejection } from "../streams/support.ts";
import { all, keysOf, valuesIn } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";
import { BOOTSTRAP, DRAFT_ARRAY, DRAFT_DOCUMENTS, DRAFT_GROUP, draftStore } from "./draft-stores.ts";
import { codeOf, everythingIn, jsonAt } from "./keys.ts";
import { UnlistedStore, ZARRAY } from "./stores.ts";

const draft = "v3-draft-2019";
const ARRAY = { shape: [4], chunks: [2], dataType: "int32", codec: "none" } as const;
const folder = temporaryFolder();

const below = async (group: ZarrGroup) =>
  (await all(walk(group))).map(
    ({ path, kind, documents }) => `${path} ${kind}${documents.size === 0 ? " implied" : ""}`,
  );
const make = (store: WritableStore, path: string, array: object = {}) =>
  given({ at: { store, path }, ...ARRAY, values: (i) => i + 1, ...array });

/** A store that cannot list, as an object of functions. */
const unlisted = (store: MemoryStore) => ({
  description: "bound",
  ...{ get: store.get.bind(store), size: store.size.bind(store), set: store.set.bind(store) },
  ...{ delete: store.delete.bind(store), openWriter: store.openWriter.bind(store) },
});

describe("a hierarchy of the draft of 2019", () => {
  it("is opened at any path, with or without a slash in front; groups need no document", async () => {
    const store = await draftStore();
    for (const path of ["foo/baz/qux", "/foo/baz/qux"]) {
      const array = await openArray({ store, path });
      expect(array).toMatchObject({ path: "foo/baz/qux", shape: [4, 6], layout: { zarrFormat: draft } });
      expect(array.chunkKey([1, 1])).toBe("data/foo/baz/qux/1.1");
    }
    expect((await openGroup({ store, path: "foo/bar" })).attributes).toEqual({ spam: "ham" });
    for (const path of ["", "foo", "foo/baz", "dots.array", "dots.array/x.group"]) {
      const { documents, attributes, findings } = await openGroup({ store, path });
      expect([documents.size, attributes, findings]).toEqual([0, {}, []]);
    }
    expect(await below(await openGroup(await givenKeys({ "zarr.json": BOOTSTRAP })))).toEqual([]);
  });

  it("is walked, node by node", async () => {
    const foreign = { "meta/root/README.md": "", "meta/root/a b.array": DRAFT_ARRAY, "data/stray/0.0": "" };
    const foo = ["foo/bar group", "foo/baz group implied", "foo/baz/qux array"];
    expect(await below(await openGroup(await draftStore(foreign)))).toEqual([
      ...["dots.array group implied", "dots.array/x.group group implied", "dots.array/x.group/y array"],
      ...["foo group implied", ...foo, "top array"],
    ]);
    expect(await below(await openGroup({ store: await draftStore(), path: "foo" }))).toEqual(foo);
  });

  it("may be one array, or have a group as its root", async () => {
    const array = await openArray(
      await givenKeys({ "zarr.json": BOOTSTRAP, "meta/root.array": DRAFT_ARRAY }),
    );
    expect(array.chunkKey([0, 0])).toBe("data/0.0");
    const group = { extensions: [], attributes: { title: "root" } };
    const root = await openGroup(await draftStore({ "meta/root.group": group }));
    expect(root.attributes).toEqual({ title: "root" });
  });

  it("takes the array of a name, and says so", async () => {
    const store = await draftStore({ "meta/root/top.group": DRAFT_GROUP });
    const { kind, findings } = await open({ store, path: "top" });
    expect([kind, findings.length]).toEqual(["array", 1]);
    expect(await below(await openGroup(store))).not.toContain("top group");
  });

  it("names what was tried, and the nearest member", async () => {
    const store = await draftStore();
    expect(await rejection(open({ store, path: "foo/baz/qix" }))).toMatchObject({
      code: "not-found",
      details: {
        ...{ format: draft, path: "foo/baz/qix", hint: "Did you mean `qux`?" },
        found: "none of meta/root/foo/baz/qix.array, meta/root/foo/baz/qix.group, meta/root/foo/baz/qix/",
      },
    });
    const hint = "Its members are bar, baz.";
    expect(await rejection(open({ store, path: "foo/nowhere" }))).toMatchObject({ details: { hint } });
  });

  it.each([
    ["foo/b z", "has a character other than"],
    ["foo/...", "has only periods"],
    [`foo/${"x".repeat(256)}`, "is longer than 255 characters"],
  ])("refuses the path %j", async (path, rule) => {
    const error = await rejection(open({ store: await draftStore(), path }));
    expect(error).toMatchObject({ code: "invalid-node-name", details: { path } });
    expect((error as Error).message).toContain(rule);
  });

  it("is judged by its bootstrap document before anything else", async () => {
    const store = await draftStore({ "zarr.json": { ...BOOTSTRAP, metadata_encoding: "text/xml" } });
    const details = { key: "zarr.json", pointer: "/metadata_encoding" };
    for (const path of ["", "foo", "foo/baz/qux"])
      expect(await rejection(open({ store, path }))).toMatchObject({ code: "unsupported-encoding", details });
  });

  it("is read where the store cannot list, as far as paths are known", async () => {
    const store = new UnlistedStore(await draftStore());
    expect((await open({ store, path: "foo/baz/qux" })).kind).toBe("array");
    expect((await open({ store, path: "foo/bar" })).kind).toBe("group");
    const details = { hint: expect.stringContaining("cannot list") };
    expect(await rejection(open({ store, path: "foo" }))).toMatchObject({ code: "not-found", details });
    expect(await codeOf(walk(await openGroup(store)).next())).toBe("unsupported-operation");
  });

  it("does not hide nodes of other formats at their own paths", async () => {
    const store = await draftStore({ "own/.zarray": ZARRAY });
    expect((await open({ store, path: "own" })).layout.zarrFormat).toBe("v2");
  });
});

it("a hierarchy of a later draft of v3 is read, with the keys of its chunks, and its own suffix only", async () => {
  const shared = { ...BOOTSTRAP, metadata_encoding: BOOTSTRAP.zarr_format, metadata_key_suffix: ".json" };
  const nodes = {
    "meta/root/grp.group.json": { attributes: {} },
    "meta/root/grp/arr.array.json": DRAFT_ARRAY,
  };
  const root = await openGroup(await givenKeys({ "zarr.json": shared, ...nodes }));
  expect(await below(root)).toEqual(["grp group", "grp/arr array"]);
  const array = await openArray({ store: root.store, path: "grp/arr" });
  expect(array.layout.zarrFormat).toBe("v3-draft-2020");
  expect(array.chunkKey([0, 1])).toBe("data/root/grp/arr/c0/1");
  const other = await givenKeys({ "zarr.json": { ...shared, metadata_key_suffix: ".cbor" }, ...nodes });
  const details = { format: "v3-draft-2020", pointer: "/metadata_key_suffix" };
  expect(await rejection(open(other))).toMatchObject({ code: "unsupported-format", details });
});

describe("a hierarchy of the draft somewhere above", () => {
  it("is found from the path of a URL, and not made up", async () => {
    const root = folder.next("h");
    await givenKeys(DRAFT_DOCUMENTS, new DirectoryStore(root));
    const array = await openArray(`${root}/foo/baz/qux`);
    expect(array).toMatchObject({ path: "foo/baz/qux", spec: { kind: "directory", path: root } });
    expect((await open(`${root}/foo/baz/qux|zarr3-draft-2019:`)).path).toBe("foo/baz/qux");
    expect(await codeOf(open(`${root}/foo/baz/qux|zarr2:`))).toBe("not-found");
    const nope = { code: "not-found", details: { path: "foo/nope" } };
    expect(await rejection(open(`${root}/foo/nope`))).toMatchObject(nope);
    const lost = folder.next("lost");
    await givenKeys({ "meta/root/a.array": DRAFT_ARRAY }, new DirectoryStore(lost));
    const details = { path: "a", key: "zarr.json" };
    expect(await rejection(open(`${lost}|zarr3-draft-2019:a`))).toMatchObject({ code: "not-found", details });
    for (const path of ["/a", "|zarr3-draft-2019:b"])
      expect(await codeOf(open(lost + path))).toBe("not-found");
  });

  it("is found from the path on a web server", async () => {
    const server = await serveValues(await valuesIn(await draftStore(), "h.zarr"));
    const root = `${server.url}/h.zarr`;
    const array = await openArray(`${root}/foo/baz/qux`);
    expect(array).toMatchObject({ path: "foo/baz/qux", spec: { kind: "http", url: root } });
    const details = { path: "foo", hint: expect.stringContaining("cannot list") };
    expect(await rejection(open(`${root}/foo`))).toMatchObject({ code: "not-found", details });
    await server.close();
  });

  it("may be a folder of any store", async () => {
    const documents = await valuesIn(await draftStore(), "in/side");
    const store = await givenKeys(Object.fromEntries(documents));
    await store.set("in/side/data/top/0.0", new Uint8Array(24));
    const array = await openArray({ store, path: "in/side/top" });
    expect(array.path).toBe("top");
    expect(await array.store.size(array.chunkKey([0, 0]))).toBe(24);
    expect(await below(await openGroup({ store, path: "in/side" }))).toContain("foo/baz/qux array");
    const details = { path: "tip", hint: "Did you mean `top`?" };
    expect(await rejection(open({ store, path: "in/side/tip" }))).toMatchObject({ details });
  });
});

describe("creating nodes of the draft", () => {
  it("writes the bootstrap document of a new hierarchy, and no groups above", async () => {
    const store = new MemoryStore();
    await make(store, "g/a", { zarrFormat: draft, attributes: { units: "m" } });
    expect(await keysOf(store)).toEqual(["data/g/a/0", "data/g/a/1", "meta/root/g/a.array", "zarr.json"]);
    expect(await jsonAt(store, "zarr.json")).toEqual(BOOTSTRAP);
    expect(await jsonAt(store, "meta/root/g/a.array")).toEqual({
      ...{ ...DRAFT_ARRAY, shape: [4], chunk_grid: { type: "regular", chunk_shape: [2] } },
      ...{ fill_value: 0, attributes: { units: "m" } },
    });
    expect((await openGroup(store)).documents.size).toBe(0);
  });

  it("takes the format of the hierarchy, and leaves its bootstrap document as it is", async () => {
    const own = { ...BOOTSTRAP, more: 1 };
    const store = await givenKeys({ "zarr.json": own });
    await make(store, "a");
    expect(await jsonAt(store, "zarr.json")).toEqual(own);
    expect((await openArray({ store, path: "a" })).layout.zarrFormat).toBe(draft);
    const refused = { code: "invalid-option", details: { expected: draft } };
    expect(await rejection(make(store, "b", { zarrFormat: "v2" }))).toMatchObject(refused);
  });

  it("makes a root array where nothing else is, and nothing beside it", async () => {
    const store = await givenKeys({ "zarr.json": BOOTSTRAP });
    await make(store, "");
    expect(await keysOf(store)).toEqual(["data/0", "data/1", "meta/root.array", "zarr.json"]);
    expect(await codeOf(make(store, "a"))).toBe("path-not-allowed");
    expect(await codeOf(make(await draftStore(), ""))).toBe("target-exists");
  });

  it.each([
    [
      "foo/baz/qux/a",
      { code: "path-not-allowed", message: expect.stringContaining("below foo/baz/qux, which is an array") },
    ],
    ["foo", { code: "target-exists" }],
    ["top", { code: "target-exists" }],
    ["foo/bar", { code: "target-exists" }],
    ["left", { code: "target-not-empty", details: { key: "data/left/0" } }],
    ["TOP", { code: "invalid-node-name", details: { path: "TOP", value: "top" } }],
    ["FOO", { code: "invalid-node-name", details: { path: "FOO", value: "foo" } }],
    ["foo/Baz/a", { code: "invalid-node-name", details: { path: "foo/Baz/a", value: "foo/baz" } }],
    ["foo/BAR", { code: "invalid-node-name", message: expect.stringContaining("`foo/bar`") }],
  ])(
    "refuses %s, below an array, where or above which nodes or data are, or beside its like",
    async (path, error) => {
      const store = await draftStore({ "data/left/0": new Uint8Array(8) });
      expect(await rejection(make(store, path))).toMatchObject(error);
    },
  );

  it.each(["a//b", "a/", "//a", "a\\b"])("refuses the path %j as it stands", async (path) => {
    const store = await draftStore({ "meta/root/a/b.array": DRAFT_ARRAY });
    for (const refused of [make(store, `/x${path}`), open({ store, path })])
      expect(await codeOf(refused)).toMatch(/^(?:path-not-allowed|invalid-node-name)$/);
  });

  it("refuses members of a group that differ in case alone, and what the draft cannot hold", async () => {
    const group = await createGroup({ store: new MemoryStore(), path: "" }, { zarrFormat: draft });
    await (await group.create("a", ARRAY)).close();
    for (const name of ["A", "a b"])
      expect(await codeOf(group.create(name, ARRAY))).toBe("invalid-node-name");
    const lost = { code: "loss-refused", details: { pointers: ["/data_type"] } };
    expect(await rejection(make(await draftStore(), "c", { dataType: "complex64" }))).toMatchObject(lost);
    await group.close();
  });

  it("takes a store that cannot list at its word", async () => {
    const store = unlisted(await draftStore());
    const writer = await create({ store, path: "TOP" }, ARRAY);
    expect(writer.findings).toEqual([{ message: expect.stringContaining("cannot list") }]);
    await writer.close();
    expect((await openArray({ store, path: "TOP" })).kind).toBe("array");
    expect((await create({ store: await draftStore(), path: "x" }, ARRAY)).findings).toEqual([]);
  });

  it("makes a group without a document an explicit one, or replaces it with all below it", async () => {
    const store = await draftStore({ "data/foo/baz/qux/0.0": "" });
    const at = { store, path: "foo" };
    await (await createGroup(at, { attributes: { a: 1 } })).close();
    expect((await openGroup(at)).attributes).toEqual({ a: 1 });
    expect(await codeOf(createGroup(at))).toBe("target-exists");
    await (await create(at, ARRAY, { ifExists: "replace" })).close();
    expect((await keysOf(store)).filter((key) => key.includes("foo"))).toEqual(["meta/root/foo.array"]);
  });

  it("works in the hierarchy around a folder", async () => {
    const root = folder.next("x.zarr");
    const files = () => everythingIn(root).filter((name) => !name.endsWith("/"));
    await given({ at: `${root}/g/a`, ...ARRAY, zarrFormat: draft, values: null });
    await (await create(`${root}/g/b`, ARRAY)).close();
    await (await createGroup(`${root}/h`)).close();
    const [a, b, h, shared] = [
      "meta/root/g/a.array",
      "meta/root/g/b.array",
      "meta/root/h.group",
      "zarr.json",
    ];
    expect(files()).toEqual([a, b, h, shared]);
    await setAttributes(await open(`${root}/g`), { a: 1 });
    await deleteNode(await open(`${root}/g/b`));
    expect(files()).toEqual(["meta/root/g.group", a, h, shared]);
    expect((await open(`${root}/g`)).attributes).toEqual({ a: 1 });
  });

  it("takes a folder without a name for a root for one by its bootstrap document", async () => {
    const root = folder.next("draft");
    await (await createGroup(root, { zarrFormat: draft })).close();
    await (await create(`${root}/a`, ARRAY)).close();
    expect((await open(`${root}/a`)).layout.zarrFormat).toBe(draft);
    await deleteNode(await open(root));
    expect(everythingIn(root)).toEqual(["zarr.json"]);
  });

  it("makes a root explicit, or replaces it by one of another format", async () => {
    const url = folder.next("x.zarr");
    await (await create(`${url}/a`, { ...ARRAY, zarrFormat: draft })).close();
    await (await createGroup(url, { attributes: { n: 1 } })).close();
    expect((await open(url)).attributes).toEqual({ n: 1 });
    expect((await open(`${url}/a`)).kind).toBe("array");
    expect(await codeOf(createGroup(url, { zarrFormat: "v3" }))).toBe("invalid-option");
    await (await createGroup(url, { zarrFormat: "v3" }, { ifExists: "replace" })).close();
    expect(everythingIn(url)).toEqual(["zarr.json"]);
    expect((await open(url)).layout.zarrFormat).toBe("v3");
    await (await createGroup(url, { zarrFormat: draft }, { ifExists: "replace" })).close();
    expect(everythingIn(url).filter((name) => !name.endsWith("/"))).toEqual(["meta/root.group", "zarr.json"]);
  });

  // D19-14
  it("leaves nothing of a name that is too long with its suffix", async () => {
    const [root, name] = [folder.next("x.zarr"), "x".repeat(255)];
    await given({ at: `${root}/a`, ...ARRAY, zarrFormat: draft, values: null });
    const refused = { code: "path-not-allowed", details: { key: `meta/root/${name}.array` } };
    expect(await rejection(create(`${root}/${name}`, ARRAY))).toMatchObject(refused);
    expect(everythingIn(root).join()).not.toContain("xxx");
    expect((await open(`${root}/a`)).kind).toBe("array");
  });
});

it("attributes make a group without a document an explicit one, and change an array's document alone", async () => {
  const store = await draftStore();
  const group = await setAttributes(await open({ store, path: "foo/baz" }), { n: 1 });
  expect(group.attributes).toEqual({ n: 1 });
  expect(await jsonAt(store, "meta/root/foo/baz.group")).toEqual({ extensions: [], attributes: { n: 1 } });
  await setAttributes(await open(store), { t: 2 });
  expect(await jsonAt(store, "meta/root.group")).toMatchObject({ attributes: { t: 2 } });
  const before = await keysOf(store);
  await setAttributes(await open({ store, path: "top" }), { units: "K" });
  expect(await keysOf(store)).toEqual(before);
  expect(await jsonAt(store, "meta/root/top.array")).toEqual({ ...DRAFT_ARRAY, attributes: { units: "K" } });
});

describe("deleting nodes of the draft", () => {
  const chunks = { "data/foo/baz/qux/0.0": "", "data/foo/baz/quxx/0.0": "", "data/top/0.0": "" };
  const keysWith = async (store: MemoryStore, text: string) =>
    (await keysOf(store)).filter((key) => key.includes(text));

  it("an array takes both trees, and the groups that only it implied; a group all below it", async () => {
    const store = await draftStore({ ...chunks, "meta/root/foo.group": DRAFT_GROUP });
    await deleteNode(await open({ store, path: "foo/baz/qux" }));
    expect(await keysWith(store, "qux")).toEqual(["data/foo/baz/quxx/0.0"]);
    expect(await codeOf(open({ store, path: "foo/baz" }))).toBe("not-found");
    await deleteNode(await open({ store, path: "foo" }));
    expect(await keysWith(store, "foo")).toEqual([]);
    expect(await keysOf(store)).toContain("data/top/0.0");
  });

  it("the root leaves the bootstrap document", async () => {
    const store = await draftStore({ ...chunks, README: "x" });
    await deleteNode(await open(store));
    expect(await keysOf(store)).toEqual(["zarr.json"]);
  });

  it("an array needs no listing, a group does", async () => {
    const whole = await draftStore(chunks);
    const store = unlisted(whole);
    await deleteNode(await open({ store, path: "top" }));
    expect(await keysWith(whole, "top")).toEqual([]);
    expect(await codeOf(deleteNode(await open({ store, path: "foo/bar" })))).toBe("unsupported-operation");
  });
});
