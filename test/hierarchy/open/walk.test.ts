import { describe, expect, it, onTestFinished } from "vitest";
import type { ZarrGroup, ZarrNode } from "../../../src/hierarchy/node.ts";
import { openGroup } from "../../../src/hierarchy/open/open.ts";
import { children, walk } from "../../../src/hierarchy/open/walk.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { serveValues } from "../../stores/value-server.ts";
import { all, valuesIn } from "../../support/consume.ts";
import { givenKeys } from "../../support/given.ts";
import { draftStore } from "../draft-stores.ts";
import { codeOf } from "../keys.ts";
import { ARRAY, consolidatedV3, GROUP, UnlistedStore, ZARRAY, ZGROUP } from "../stores.ts";

const nodes = (group: ZarrGroup): Promise<ZarrNode[]> => all(walk(group));
const inWords = async (group: ZarrGroup) => (await nodes(group)).map(({ kind, path }) => `${kind} ${path}`);

describe("walk", () => {
  it("gives parents before children, siblings sorted by name", async () => {
    const store = await givenKeys({
      ".zgroup": ZGROUP,
      "b/.zarray": ZARRAY,
      "b/0.0": "chunk",
      "a-b/.zgroup": ZGROUP,
      "a/.zgroup": ZGROUP,
      "a/z/.zarray": ZARRAY,
      "a/c/.zgroup": ZGROUP,
      "a/c/x/.zarray": ZARRAY,
      "note/readme.txt": "",
    });
    expect(await inWords(await openGroup(store))).toEqual([
      "group a",
      "group a/c",
      "array a/c/x",
      "array a/z",
      "group a-b",
      "array b",
    ]);
    expect(await inWords(await openGroup({ store, path: "a" }))).toEqual([
      "group a/c",
      "array a/c/x",
      "array a/z",
    ]);
  });

  it("shows implied groups, with a finding", async () => {
    const store = await givenKeys({ "zarr.json": GROUP, "a/b/x/zarr.json": ARRAY, "empty/file": "" });
    const found = await nodes(await openGroup(store));
    expect(found.map(({ path }) => path)).toEqual(["a", "a/b", "a/b/x"]);
    expect(found[0]).toMatchObject({ kind: "group", attributes: {} });
    expect(found[0]?.findings).toHaveLength(1);
    expect(found[0]?.documents.size).toBe(0);
  });

  it("keeps to the group's format", async () => {
    const store = await givenKeys({
      "zarr.json": GROUP,
      ".zgroup": ZGROUP,
      "a/zarr.json": ARRAY,
      "b/.zarray": ZARRAY,
    });
    expect(await inWords(await openGroup(store))).toEqual(["array a"]);
  });

  it("passes over folders whose names are none of v3's", async () => {
    const store = await givenKeys({
      "zarr.json": GROUP,
      "__cache/zarr.json": ARRAY,
      "__x/y": "",
      "a/zarr.json": ARRAY,
    });
    expect(await inWords(await openGroup(store))).toEqual(["array a"]);
  });

  it("does not look for nodes in arrays", async () => {
    const store = await givenKeys({ ".zgroup": ZGROUP, "a/.zarray": ZARRAY, "a/0/.zarray": ZARRAY });
    expect(await inWords(await openGroup(store))).toEqual(["array a"]);
  });

  it("gives more nodes than are opened at once, in order", async () => {
    const names = Array.from({ length: 40 }, (_, i) => `n${String(i).padStart(2, "0")}`);
    const store = await givenKeys({
      ".zgroup": ZGROUP,
      ...Object.fromEntries(names.map((name) => [`${name}/.zarray`, ZARRAY])),
    });
    expect((await nodes(await openGroup(store))).map(({ path }) => path)).toEqual(names);
  });

  it("passes errors on, with path and key", async () => {
    const store = await givenKeys({ ".zgroup": ZGROUP, "a/.zarray": ZARRAY, "b/.zarray": "{" });
    await expect(nodes(await openGroup(store))).rejects.toMatchObject({
      code: "invalid-metadata",
      details: { path: "b", key: "b/.zarray" },
    });
  });

  it("stops when it is asked to", async () => {
    const store = await givenKeys({ ".zgroup": ZGROUP, "a/.zarray": ZARRAY });
    const reason = new Error("enough");
    const group = await openGroup(store);
    await expect(walk(group, { signal: AbortSignal.abort(reason) }).next()).rejects.toMatchObject({
      code: "aborted",
      cause: reason,
    });
  });
});

describe("children", () => {
  const members = async (group: ZarrGroup) =>
    (await all(children(group))).map(({ kind, path }) => `${kind} ${path}`);

  it("are the nodes one level below", async () => {
    const store = await givenKeys({
      ".zgroup": ZGROUP,
      "foo/.zgroup": ZGROUP,
      "foo/bar/.zgroup": ZGROUP,
      "foo/baz/.zarray": ZARRAY,
      "foo/baz/0.0": "chunk",
      "empty/file": "",
      "implied/x/y/.zarray": ZARRAY,
    });
    expect(await members(await openGroup(store))).toEqual(["group foo", "group implied"]);
    expect(await members(await openGroup({ store, path: "foo" }))).toEqual([
      "group foo/bar",
      "array foo/baz",
    ]);
  });

  it("of the 2019 draft come from its documents", async () => {
    const store = await draftStore({ "data/none/0": "" });
    expect(await members(await openGroup(store))).toEqual(["group dots.array", "group foo", "array top"]);
    expect(await members(await openGroup({ store, path: "foo" }))).toEqual([
      "group foo/bar",
      "group foo/baz",
    ]);
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
    const store = await givenKeys({
      "zarr.json": GROUP,
      "a/zarr.json": ARRAY,
      "a/c/0/0": "chunk",
      "g/zarr.json": GROUP,
    });
    const listed: string[] = [];
    const log = withRequestLog(store, ({ operation, key }) => {
      if (operation === "list") listed.push(key);
    });
    expect(await members(await openGroup(log))).toEqual(["array a", "group g"]);
    expect(listed).toEqual([""]);
  });
});

describe("walk by consolidated metadata", () => {
  const zmetadata = {
    metadata: { ".zgroup": ZGROUP, "a/b/x/.zarray": ZARRAY, "e/.zgroup": ZGROUP, "e/.zattrs": { n: 1 } },
    zarr_consolidated_format: 1,
  };

  it("lists what there is where the store cannot list", async () => {
    const store = new UnlistedStore(await givenKeys({ ".zgroup": ZGROUP, ".zmetadata": zmetadata }));
    const found = await nodes(await openGroup(store));
    expect(found.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      "group a",
      "group a/b",
      "array a/b/x",
      "group e",
    ]);
    expect(found.map(({ findings }) => findings.length)).toEqual([1, 1, 0, 0]);
    const ownKeys = found.map(({ documents }) => [...documents.keys()]);
    expect(ownKeys).toEqual([[], [], ["a/b/x/.zarray"], ["e/.zattrs", "e/.zgroup"]]);
    expect(found[3]?.attributes).toEqual({ n: 1 });
    expect(await inWords(await openGroup({ store, path: "e" }))).toEqual([]);
  });

  it("lists it below a group that they alone describe", async () => {
    const store = new UnlistedStore(await givenKeys({ ".zmetadata": zmetadata }));
    expect(await inWords(await openGroup(store))).toEqual(["group a", "group a/b", "array a/b/x", "group e"]);
    expect(await inWords(await openGroup({ store, path: "e" }))).toEqual([]);
  });

  it("lists it in v3 where the store holds none of the documents", async () => {
    const root = consolidatedV3({ "a/x": ARRAY, a: consolidatedV3({}), e: GROUP, __no: GROUP });
    const only = await givenKeys({ "zarr.json": root, "a/x/c/0/0": "chunk" });
    expect(await inWords(await openGroup(only))).toEqual(["group a", "array a/x", "group e"]);
    expect(await inWords(await openGroup({ store: only, path: "a" }))).toEqual(["array a/x"]);
    const stale = await givenKeys({ "zarr.json": root, "a/zarr.json": GROUP, "late/zarr.json": ARRAY });
    expect(await inWords(await openGroup(stale))).toEqual(["group a", "array late"]);
  });

  it.each([
    [
      "v2",
      {
        ".zgroup": ZGROUP,
        ".zmetadata": {
          zarr_consolidated_format: 1,
          metadata: { "a/.zgroup": ZGROUP, "a/b/x/.zarray": ZARRAY },
        },
      },
      "a/.zgroup",
    ],
    [
      "v3",
      { "zarr.json": consolidatedV3({ a: GROUP, "a/b": GROUP, "a/b/x": ARRAY, c: GROUP }) },
      "a/zarr.json",
    ],
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
    await expect(nodes(await openGroup(store))).rejects.toMatchObject({
      code: "unsupported-operation",
      details: { path: "" },
    });
  });
});
