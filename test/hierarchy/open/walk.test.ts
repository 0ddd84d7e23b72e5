import { describe, expect, it, onTestFinished } from "vitest";
import type { ZarrGroup, ZarrNode } from "../../../src/hierarchy/node.ts";
import { openGroup } from "../../../src/hierarchy/open/open.ts";
import { children, walk } from "../../../src/hierarchy/open/walk.ts";
import { serveValues } from "../../stores/value-server.ts";
import { rejection } from "../../streams/support.ts";
import { all, valuesIn } from "../../support/consume.ts";
import { givenKeys } from "../../support/given.ts";
import { draftStore } from "../draft-stores.ts";
import { codeOf, logged } from "../keys.ts";
import { ARRAY, consolidatedV3, GROUP, UnlistedStore, ZARRAY, ZGROUP } from "../stores.ts";

const nodes = (group: ZarrGroup): Promise<ZarrNode[]> => all(walk(group));
const inWords = async (group: ZarrGroup) => (await nodes(group)).map(({ kind, path }) => `${kind} ${path}`);

describe("walk", () => {
  it("gives parents before children, siblings sorted by name, and looks for no nodes in arrays", async () => {
    const store = await givenKeys({
      ...{ ".zgroup": ZGROUP, "a-b/.zgroup": ZGROUP, "a/.zgroup": ZGROUP, "a/c/.zgroup": ZGROUP },
      ...{ "b/.zarray": ZARRAY, "b/0.0": "chunk", "b/0/.zarray": ZARRAY, "note/readme.txt": "" },
      ...{ "a/z/.zarray": ZARRAY, "a/c/x/.zarray": ZARRAY },
    });
    const inA = ["group a/c", "array a/c/x", "array a/z"];
    expect(await inWords(await openGroup(store))).toEqual(["group a", ...inA, "group a-b", "array b"]);
    expect(await inWords(await openGroup({ store, path: "a" }))).toEqual(inA);
  });

  it("shows implied groups, with a finding", async () => {
    const store = await givenKeys({ "zarr.json": GROUP, "a/b/x/zarr.json": ARRAY, "empty/file": "" });
    const found = await nodes(await openGroup(store));
    expect(found.map(({ path }) => path)).toEqual(["a", "a/b", "a/b/x"]);
    expect(found[0]).toMatchObject({ kind: "group", attributes: {} });
    expect([found[0]?.findings.length, found[0]?.documents.size]).toEqual([1, 0]);
  });

  it("keeps to the group's format, and passes over folders whose names are none of v3's", async () => {
    const v2 = { ".zgroup": ZGROUP, "b/.zarray": ZARRAY };
    const v3 = { "zarr.json": GROUP, "a/zarr.json": ARRAY, "__cache/zarr.json": ARRAY, "__x/y": "" };
    expect(await inWords(await openGroup(await givenKeys({ ...v2, ...v3 })))).toEqual(["array a"]);
  });

  it("gives more nodes than are opened at once, in order", async () => {
    const names = Array.from({ length: 40 }, (_, i) => `n${String(i).padStart(2, "0")}`);
    const arrays = Object.fromEntries(names.map((name) => [`${name}/.zarray`, ZARRAY]));
    const store = await givenKeys({ ".zgroup": ZGROUP, ...arrays });
    expect((await nodes(await openGroup(store))).map(({ path }) => path)).toEqual(names);
  });

  it("passes errors on, with path and key, and stops when it is asked to", async () => {
    const store = await givenKeys({ ".zgroup": ZGROUP, "a/.zarray": ZARRAY, "b/.zarray": "{" });
    const group = await openGroup(store);
    const broken = { code: "invalid-metadata", details: { path: "b", key: "b/.zarray" } };
    expect(await rejection(nodes(group))).toMatchObject(broken);
    const cause = new Error("enough");
    const stopped = walk(group, { signal: AbortSignal.abort(cause) }).next();
    expect(await rejection(stopped)).toMatchObject({ code: "aborted", cause });
  });
});

describe("children", () => {
  const members = async (group: ZarrGroup) =>
    (await all(children(group))).map(({ kind, path }) => `${kind} ${path}`);

  it("are the nodes one level below", async () => {
    const store = await givenKeys({
      ...{ ".zgroup": ZGROUP, "foo/.zgroup": ZGROUP, "foo/bar/.zgroup": ZGROUP, "empty/file": "" },
      ...{ "foo/baz/.zarray": ZARRAY, "foo/baz/0.0": "chunk", "implied/x/y/.zarray": ZARRAY },
    });
    expect(await members(await openGroup(store))).toEqual(["group foo", "group implied"]);
    const foo = await openGroup({ store, path: "foo" });
    expect(await members(foo)).toEqual(["group foo/bar", "array foo/baz"]);
  });

  it("of the 2019 draft come from its documents", async () => {
    const store = await draftStore({ "data/none/0": "" });
    expect(await members(await openGroup(store))).toEqual(["group dots.array", "group foo", "array top"]);
    const foo = await openGroup({ store, path: "foo" });
    expect(await members(foo)).toEqual(["group foo/bar", "group foo/baz"]);
    expect(await members(await openGroup({ store, path: "foo/bar" }))).toEqual([]);
  });

  it("need no listing where consolidated metadata tell them", async () => {
    const metadata = { ".zgroup": ZGROUP, "a/b/x/.zarray": ZARRAY, "e/.zarray": ZARRAY };
    const documents = { ".zgroup": ZGROUP, ".zmetadata": { metadata, zarr_consolidated_format: 1 } };
    const store = new UnlistedStore(await givenKeys(documents));
    expect(await members(await openGroup(store))).toEqual(["group a", "array e"]);
    const bare = new UnlistedStore(await givenKeys({ ".zgroup": ZGROUP }));
    await expect(members(await openGroup(bare))).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("are found without listing chunks", async () => {
    const nodes = { "zarr.json": GROUP, "a/zarr.json": ARRAY, "a/c/0/0": "chunk", "g/zarr.json": GROUP };
    const { store, taken } = logged(await givenKeys(nodes), "list");
    expect(await members(await openGroup(store))).toEqual(["array a", "group g"]);
    expect(taken()).toEqual(["list "]);
  });
});

describe("walk by consolidated metadata", () => {
  const zmetadata = {
    metadata: { ".zgroup": ZGROUP, "a/b/x/.zarray": ZARRAY, "e/.zgroup": ZGROUP, "e/.zattrs": { n: 1 } },
    zarr_consolidated_format: 1,
  };

  const told = ["group a", "group a/b", "array a/b/x", "group e"];

  it("lists what there is where the store cannot list, below a group that they alone describe too", async () => {
    const store = new UnlistedStore(await givenKeys({ ".zgroup": ZGROUP, ".zmetadata": zmetadata }));
    const found = await nodes(await openGroup(store));
    expect(found.map(({ kind, path }) => `${kind} ${path}`)).toEqual(told);
    expect(found.map(({ findings }) => findings.length)).toEqual([1, 1, 0, 0]);
    const ownKeys = found.map(({ documents }) => [...documents.keys()].join());
    expect(ownKeys).toEqual(["", "", "a/b/x/.zarray", "e/.zattrs,e/.zgroup"]);
    expect(found[3]?.attributes).toEqual({ n: 1 });
    const bare = new UnlistedStore(await givenKeys({ ".zmetadata": zmetadata }));
    expect(await inWords(await openGroup(bare))).toEqual(told);
    for (const of of [store, bare])
      expect(await inWords(await openGroup({ store: of, path: "e" }))).toEqual([]);
  });

  it("lists it in v3 where the store holds none of the documents", async () => {
    const root = consolidatedV3({ "a/x": ARRAY, a: consolidatedV3({}), e: GROUP, __no: GROUP });
    const only = await givenKeys({ "zarr.json": root, "a/x/c/0/0": "chunk" });
    expect(await inWords(await openGroup(only))).toEqual(["group a", "array a/x", "group e"]);
    expect(await inWords(await openGroup({ store: only, path: "a" }))).toEqual(["array a/x"]);
    const stale = await givenKeys({ "zarr.json": root, "a/zarr.json": GROUP, "late/zarr.json": ARRAY });
    expect(await inWords(await openGroup(stale))).toEqual(["group a", "array late"]);
  });

  const metadata = { "a/.zgroup": ZGROUP, "a/b/x/.zarray": ZARRAY };
  const v2 = { ".zgroup": ZGROUP, ".zmetadata": { zarr_consolidated_format: 1, metadata } };
  const v3 = { "zarr.json": consolidatedV3({ a: GROUP, "a/b": GROUP, "a/b/x": ARRAY, c: GROUP }) };
  it.each([
    ["v2", v2, "a/.zgroup"],
    ["v3", v3, "a/zarr.json"],
  ])("of a group above lists it where the store cannot list, in %s", async (_, documents, key) => {
    const own = key.endsWith("json") ? GROUP : ZGROUP;
    const values = await givenKeys({ ...documents, [key]: own });
    const store = new UnlistedStore(values);
    expect(await inWords(await openGroup({ store, path: "a" }))).toEqual(["group a/b", "array a/b/x"]);

    const served = await valuesIn(values, "d");
    const server = await serveValues(served);
    onTestFinished(() => server.close());
    expect(await inWords(await openGroup(`${server.url}/d/a`))).toEqual(["group b", "array b/x"]);
    served.set("d/zarr.json", new Uint8Array([0]));
    served.set("d/.zmetadata", new Uint8Array([0]));
    expect(await codeOf(nodes(await openGroup(`${server.url}/d/a`)))).toBe("unsupported-operation");
  });

  it("is needed where the store cannot list", async () => {
    const store = new UnlistedStore(await givenKeys({ ".zgroup": ZGROUP }));
    const refused = { code: "unsupported-operation", details: { path: "" } };
    expect(await rejection(nodes(await openGroup(store)))).toMatchObject(refused);
  });
});
