import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { exists, open, openArray, openGroup } from "../../../src/hierarchy/open/open.ts";
import { openNode } from "../../../src/hierarchy/open/open-node.ts";
import { clean, copy, diff, pyramid, slice, validate, walk, type ZarrGroup } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { HttpStore } from "../../../src/stores/http.ts";
import type { Store } from "../../../src/stores/store.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { serveValues } from "../../stores/value-server.ts";
import { rejection } from "../../streams/support.ts";
import { all, valuesIn } from "../../support/consume.ts";
import { given, givenKeys } from "../../support/given.ts";
import { draftStore } from "../draft-stores.ts";
import { codeOf, logged } from "../keys.ts";
import { ARRAY, consolidatedV3, GROUP, UnlistedStore, ZARRAY, ZGROUP } from "../stores.ts";

const folder = temporaryFolder();

/** Code and details of the error with which something fails. */
const refusal = (failing: Promise<unknown>) =>
  rejection(failing) as Promise<{ readonly code: string; readonly details: Record<string, unknown> }>;

describe("open", () => {
  it("opens arrays and groups of either format", async () => {
    const big = 18446744073709551615n.toString();
    const store = await givenKeys({
      ...{ ".zgroup": ZGROUP, ".zattrs": { title: "root" }, "a/.zarray": ZARRAY, "b/zarr.json": ARRAY },
      "a/.zattrs": { _ARRAY_DIMENSIONS: ["y", "x"], n: big },
    });
    const root = await openGroup(store);
    expect(root).toMatchObject({ kind: "group", path: "", attributes: { title: "root" }, findings: [] });
    const a = await openArray({ store, path: "/a/" });
    const { path, shape, chunkShape, dataType, dimensionNames, attributes } = a;
    expect([path, shape, chunkShape, dataType]).toEqual(["a", [4, 6], [2, 3], "int32"]);
    expect([dimensionNames, attributes]).toEqual([["y", "x"], { n: big }]);
    expect([...a.documents.keys()].sort()).toEqual(["a/.zarray", "a/.zattrs"]);
    expect(a.chunkKey([1, 0])).toBe("a/1.0");
    expect((await openArray({ store, path: "b" })).chunkKey([1, 0])).toBe("b/c/1/0");
  });

  it("takes v3 where both are, with a finding where it looks for both", async () => {
    const store = await givenKeys({ ".zarray": ZARRAY, "zarr.json": ARRAY });
    expect((await open(store)).layout.zarrFormat).toBe("v3");
    const node = await openNode(store, "", { looksBeside: true });
    expect(node?.layout.zarrFormat).toBe("v3");
    expect(node?.findings).toHaveLength(1);
  });

  it("says what is there instead, which keys it tried, and where an error lies", async () => {
    const invalid = { ...ZARRAY, order: "K" };
    const store = await givenKeys({ ".zgroup": ZGROUP, "a/.zarray": ZARRAY, "bad/.zarray": invalid });
    expect(await codeOf(openArray(store))).toBe("not-found");
    expect(await codeOf(openGroup({ store, path: "a" }))).toBe("not-found");
    const { code, details } = await refusal(open({ store, path: "x/y" }));
    const tried = "x/y/zarr.json, x/y/.zarray, x/y/.zgroup, x/y/meta, x/y/.zmetadata";
    expect([code, details.found]).toEqual(["not-found", `none of ${tried}`]);
    const place = { store: "memory", path: "bad", key: "bad/.zarray", pointer: "/order" };
    const wrong = { code: "invalid-metadata", details: place };
    expect(await refusal(open({ store, path: "bad" }))).toMatchObject(wrong);
    expect(await codeOf(open({ store, path: "a/../b" }))).toBe("path-not-allowed");
  });

  it("names the folders at the top that are nodes, when there is no group around them", async () => {
    const hintFor = async (keys: object) => {
      const { code, details } = await refusal(open(await givenKeys({ ...keys })));
      expect(code).toBe("not-found");
      return String(details.hint);
    };
    const one = await hintFor({ "data.zarr/.zgroup": ZGROUP, "note.txt": "" });
    expect(one).toBe("Did you mean the folder `data.zarr` inside it?");
    const two = await hintFor({ "b/zarr.json": GROUP, "a/meta": {}, "c/note": "" });
    expect(two).toBe("Open one of the folders inside it: a, b.");
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}/.zgroup`, ZGROUP]));
    expect((await hintFor(many)).match(/n\d+/g)).toHaveLength(8);
  });

  it("is aborted by its signal, with its reason", async () => {
    const cause = new Error("enough");
    const opening = open(await givenKeys({ ".zgroup": ZGROUP }), { signal: AbortSignal.abort(cause) });
    expect(await rejection(opening)).toMatchObject({ code: "aborted", cause });
  });

  it.each([
    ["v1", "meta", { zarr_format: 7 }],
    ["v3-draft-2019", "zarr.json", { zarr_format: "https://purl.org/zarr/spec/protocol/core/4.0" }],
  ])("names a format like %s", async (format, key, document) => {
    const details = { format, key, pointer: "/zarr_format" };
    const refused = { code: "unsupported-format", details };
    expect(await refusal(open(await givenKeys({ [key]: document })))).toMatchObject(refused);
  });
});

describe("what only consolidated metadata describe", () => {
  const zmetadata = {
    metadata: { ".zgroup": ZGROUP, "a/.zgroup": ZGROUP, "a/x/.zarray": ZARRAY, "a/x/.zattrs": { n: 1 } },
    zarr_consolidated_format: 1,
  };

  it("is opened from v2's, at any depth, without listing, and from v3's", async () => {
    const store = new UnlistedStore(await givenKeys({ ".zmetadata": zmetadata }));
    expect(await open(store)).toMatchObject({ kind: "group", path: "" });
    const array = { kind: "array", path: "a/x", attributes: { n: 1 } };
    expect(await open({ store, path: "a/x" })).toMatchObject(array);
    expect(await codeOf(open({ store, path: "a/y" }))).toBe("not-found");
    const v3 = await givenKeys({ "g/zarr.json": consolidatedV3({ a: GROUP, "a/x": ARRAY }) });
    const { path, consolidated } = await openArray({ store: v3, path: "g/a/x" });
    expect([path, consolidated?.has("g/a/x/zarr.json")]).toEqual(["g/a/x", true]);
  });

  it("is not asked where documents are", async () => {
    const store = new UnlistedStore(await givenKeys({ ".zmetadata": "{", "a/.zarray": ZARRAY }));
    await open({ store, path: "a" });
    expect(store.asked).not.toContain(".zmetadata");
    const broken = { code: "invalid-metadata", details: { key: ".zmetadata" } };
    expect(await refusal(open({ store, path: "b" }))).toMatchObject(broken);
  });

  it("is found above the path of a URL, and not made up", async () => {
    const root = folder.next("s.zarr");
    await givenKeys({ ".zmetadata": zmetadata, "a/x/note": "" }, new DirectoryStore(root));
    const array = await openArray(`${root}/a/x`);
    expect(array).toMatchObject({ path: "a/x", spec: { kind: "directory", path: root } });
    expect(array.chunkKey([0, 0])).toBe("a/x/0.0");
    for (const url of [`${root}/a/y`, folder.next("nothing.zarr")])
      expect(await codeOf(open(url))).toBe("not-found");
  });
});

it("exists says whether a node is there, of any format", async () => {
  const nodes = { ".zgroup": ZGROUP, "a/.zarray": ZARRAY, "b/zarr.json": ARRAY };
  const store = await givenKeys({ ...nodes, "c/file": "", "d/.zarray": "{" });
  for (const path of ["", "a", "b"]) expect(await exists({ store, path }), path).toBe(true);
  for (const path of ["c", "a/b", "none"]) expect(await exists({ store, path }), path).toBe(false);
  expect(await codeOf(exists({ store, path: "d" }))).toBe("invalid-metadata");
  for (const url of ["memory:nowhere", "/nowhere/at-all.zip"]) expect(await exists(url)).toBe(false);
  // below a path of the 2019 draft nodes make it a group
  const draft = await draftStore();
  for (const path of ["foo", "foo/baz", "foo/baz/qux"])
    expect(await exists({ store: draft, path })).toBe(true);
  expect(await exists({ store: draft, path: "foo/none" })).toBe(false);
});

it("a URL object is taken wherever the text of a URL is", async () => {
  const place = folder.next("a url ");
  const at = (name: string) => pathToFileURL(join(place, name));
  const grid = { shape: [4, 4], chunks: [2, 2], dimensionNames: ["y", "x"] };
  await given({ at: at("a b.zarr"), ...grid, dataType: "int16", values: null });
  expect((await open(at("a b.zarr"))).kind).toBe("array");
  expect(await exists(at("none.zarr"))).toBe(false);
  await copy(at("a b.zarr"), at("copy.zarr"));
  expect(await slice(at("copy.zarr"), [0]).shape()).toEqual([4]);
  await pyramid(at("copy.zarr"), at("levels.zarr"), { levels: 2 });
  expect(await all(diff(at("a b.zarr"), at("copy.zarr")))).toEqual([]);
  expect(await all(validate(at("copy.zarr"), { fix: true }))).toContainEqual(
    expect.objectContaining({ level: "info" }),
  );
  expect(await all(clean(at("copy.zarr")))).toEqual([]);
});

describe("the member of an open group", () => {
  const GRID = { shape: [4], chunks: [2], dataType: "int8" };
  const ARRAYS = { t: GRID, "a/u": { ...GRID, attributes: { units: "K" } } };
  const made = (zarrFormat: "v2" | "v3" | "v3-draft-2019", consolidated = false) =>
    given({ zarrFormat, arrays: ARRAYS, consolidated });

  /** A group in a store, and the calls of it since they were taken last. */
  async function opened(of: Store) {
    const { store, taken } = logged(of);
    const group = await openGroup(store);
    taken();
    return { group, taken };
  }

  it("takes no request where the group's document of v3 lists it", async () => {
    const { group, taken } = await opened(await made("v3", true));
    expect((await openArray(group, "t")).shape).toEqual([4]);
    expect((await openArray(group, "a/u")).attributes).toEqual({ units: "K" });
    const a = await openGroup(group, "a");
    expect((await openArray(a, "u")).path).toBe("a/u");
    expect((await open(group, "/a/u/")).kind).toBe("array");
    expect(await openGroup(group, "")).toBe(group);
    expect(taken()).toEqual([]);
    expect([...(await (await openArray(group, "t")).slice().read()).data]).toEqual([0, 1, 2, 3]);
  });

  it("takes one request, once, where v2 consolidates over HTTP", async () => {
    const server = await serveValues(await valuesIn(await made("v2", true)));
    const { group, taken } = await opened(new HttpStore(server.url));
    await openArray(group, "t");
    expect(taken()).toEqual(["get .zmetadata"]);
    await Promise.all([openArray(group, "t"), openArray(group, "a/u")]);
    expect(taken()).toEqual([]);
    await server.close();
  });

  it("takes none that a walk gave with all that is consolidated", async () => {
    const { group, taken } = await opened(new UnlistedStore(await made("v2", true)));
    const nodes = await all(walk(group));
    taken();
    await openArray(nodes.find(({ path }) => path === "a") as ZarrGroup, "u");
    expect(taken()).toEqual([]);
  });

  it.each([
    ["v3", ["get t/zarr.json"]],
    ["v2", ["get t/.zarray", "get t/.zattrs"]],
  ] as const)("is read by its own documents alone where none lists it: %s", async (zarrFormat, calls) => {
    const { group, taken } = await opened(await made(zarrFormat));
    await openArray(group, "t");
    expect(taken().sort()).toEqual(calls);
  });

  it("is found where it was written after its group was consolidated, and in the tree of a draft", async () => {
    const store = await made("v3", true);
    const { group } = await opened(store);
    await given({ ...GRID, zarrFormat: "v3", at: { store, path: "late" } });
    expect((await openArray(group, "late")).path).toBe("late");
    const draft = await opened(await made("v3-draft-2019"));
    expect((await openArray(draft.group, "a/u")).path).toBe("a/u");
  });

  it("that is not there, or of the other kind, is an error with what is near", async () => {
    const { group } = await opened(await made("v3", true));
    const details = { path: "tt", hint: expect.stringContaining("`t`") };
    expect(await refusal(openArray(group, "tt"))).toMatchObject({ code: "not-found", details });
    expect(await codeOf(openArray(group, "a"))).toBe("not-found");
    expect(await codeOf(openGroup(group, "t"))).toBe("not-found");
    expect(await codeOf(openArray(group, "../t"))).toBe("path-not-allowed");
    const array = await openArray(group, "t");
    expect(await codeOf(openArray(array as never, "t"))).toBe("invalid-option");
    const wrap = { wrap: (store: Store) => store } as object;
    expect(await codeOf(openArray(group, "t", wrap))).toBe("invalid-option");
    expect(await codeOf(openArray(group, "t", { signal: AbortSignal.abort() }))).toBe("aborted");
  });
});
