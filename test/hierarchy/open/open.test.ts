import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exists, open, openArray, openGroup } from "../../../src/hierarchy/open/open.ts";
import { openNode } from "../../../src/hierarchy/open/open-node.ts";
import { clean, copy, diff, pyramid, slice, validate } from "../../../src/index.ts";
import { given, givenKeys } from "../../support/given.ts";
import { draftStore } from "../draft-stores.ts";
import { codeOf } from "../keys.ts";
import { ARRAY, consolidatedV3, GROUP, UnlistedStore, ZARRAY, ZGROUP } from "../stores.ts";

describe("open", () => {
  it("opens arrays and groups of either format", async () => {
    const store = await givenKeys({
      ".zgroup": ZGROUP,
      ".zattrs": { title: "root" },
      "a/.zarray": ZARRAY,
      "a/.zattrs": { _ARRAY_DIMENSIONS: ["y", "x"], n: 18446744073709551615n.toString() },
      "b/zarr.json": ARRAY,
    });
    const root = await openGroup(store);
    expect(root).toMatchObject({ kind: "group", path: "", attributes: { title: "root" }, findings: [] });
    const a = await openArray({ store, path: "/a/" });
    expect(a).toMatchObject({
      path: "a",
      shape: [4, 6],
      chunkShape: [2, 3],
      dataType: "int32",
      dimensionNames: ["y", "x"],
      attributes: { n: "18446744073709551615" },
    });
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

  it("says which kind is there instead", async () => {
    const store = await givenKeys({ ".zgroup": ZGROUP, "a/.zarray": ZARRAY });
    await expect(openArray(store)).rejects.toMatchObject({ code: "not-found" });
    await expect(openGroup({ store, path: "a" })).rejects.toMatchObject({ code: "not-found" });
  });

  it("lists the keys that it tried", async () => {
    const store = await givenKeys({ "x/.zgroup": ZGROUP });
    const error = await open({ store, path: "x/y" }).catch((e) => e);
    expect(error.code).toBe("not-found");
    expect(error.details.found).toBe(
      "none of x/y/zarr.json, x/y/.zarray, x/y/.zgroup, x/y/meta, x/y/.zmetadata",
    );
  });

  it("names the folders at the top that are nodes, when there is no group around them", async () => {
    const one = await open(await givenKeys({ "data.zarr/.zgroup": ZGROUP, "note.txt": "" })).catch((e) => e);
    expect(one.details.hint).toBe("Did you mean the folder `data.zarr` inside it?");
    const two = await open(await givenKeys({ "b/zarr.json": GROUP, "a/meta": {}, "c/note": "" })).catch(
      (e) => e,
    );
    expect(two.code).toBe("not-found");
    expect(two.details.hint).toBe("Name one of the folders inside it: a, b.");
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}/.zgroup`, ZGROUP]));
    const hint = (await open(await givenKeys(many)).catch((e) => e)).details.hint;
    expect(hint.match(/n\d+/g)).toHaveLength(8);
  });

  it("adds store, path and key to errors", async () => {
    const store = await givenKeys({ "a/.zarray": { ...ZARRAY, order: "K" } });
    await expect(open({ store, path: "a" })).rejects.toMatchObject({
      code: "invalid-metadata",
      details: { store: "memory", path: "a", key: "a/.zarray", pointer: "/order" },
    });
  });

  it("refuses paths that leave the root", async () => {
    expect(await codeOf(open({ store: await givenKeys({}), path: "a/../b" }))).toBe("path-not-allowed");
  });

  it("is aborted by its signal, with its reason", async () => {
    const reason = new Error("enough");
    const store = await givenKeys({ ".zgroup": ZGROUP });
    await expect(open(store, { signal: AbortSignal.abort(reason) })).rejects.toMatchObject({
      code: "aborted",
      cause: reason,
    });
  });
});

describe("what only consolidated metadata describe", () => {
  const zmetadata = {
    metadata: { ".zgroup": ZGROUP, "a/.zgroup": ZGROUP, "a/x/.zarray": ZARRAY, "a/x/.zattrs": { n: 1 } },
    zarr_consolidated_format: 1,
  };

  it("is opened from v2's, at any depth, without listing", async () => {
    const store = new UnlistedStore(await givenKeys({ ".zmetadata": zmetadata }));
    expect(await open(store)).toMatchObject({ kind: "group", path: "" });
    expect(await open({ store, path: "a/x" })).toMatchObject({
      kind: "array",
      path: "a/x",
      attributes: { n: 1 },
    });
    await expect(open({ store, path: "a/y" })).rejects.toMatchObject({ code: "not-found" });
  });

  it("is opened from v3's", async () => {
    const store = await givenKeys({ "g/zarr.json": consolidatedV3({ a: GROUP, "a/x": ARRAY }) });
    const array = await openArray({ store, path: "g/a/x" });
    expect(array.path).toBe("g/a/x");
    expect(array.consolidated?.has("g/a/x/zarr.json")).toBe(true);
  });

  it("is not asked where documents are", async () => {
    const store = new UnlistedStore(await givenKeys({ ".zmetadata": "{", "a/.zarray": ZARRAY }));
    await open({ store, path: "a" });
    expect(store.asked).not.toContain(".zmetadata");
    await expect(open({ store, path: "b" })).rejects.toMatchObject({
      code: "invalid-metadata",
      details: { key: ".zmetadata" },
    });
  });

  describe("in folders", () => {
    let folder = "";
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "zarrflow-open-"));
      await mkdir(join(folder, "s.zarr/a/x"), { recursive: true });
      await writeFile(join(folder, "s.zarr/.zmetadata"), JSON.stringify(zmetadata));
    });
    afterAll(() => rm(folder, { recursive: true }));

    it("is found above the path of a URL", async () => {
      const array = await openArray(`${folder}/s.zarr/a/x`);
      expect(array).toMatchObject({ path: "a/x", spec: { kind: "directory", path: `${folder}/s.zarr` } });
      expect(array.chunkKey([0, 0])).toBe("a/x/0.0");
    });

    it("is not made up", async () => {
      await expect(open(`${folder}/s.zarr/a/y`)).rejects.toMatchObject({ code: "not-found" });
      await expect(open(`${folder}/nothing.zarr`)).rejects.toMatchObject({ code: "not-found" });
    });
  });
});

describe("other formats", () => {
  it("are named", async () => {
    await expect(open(await givenKeys({ meta: { zarr_format: 7 } }))).rejects.toMatchObject({
      code: "unsupported-format",
      details: { format: "v1", key: "meta", pointer: "/zarr_format" },
    });
    const draft = { zarr_format: "https://purl.org/zarr/spec/protocol/core/4.0" };
    await expect(open(await givenKeys({ "zarr.json": draft }))).rejects.toMatchObject({
      code: "unsupported-format",
      details: { format: "v3-draft-2019", key: "zarr.json", pointer: "/zarr_format" },
    });
  });
});

describe("exists", () => {
  it("says whether a node is there, of any format", async () => {
    const documents = {
      ".zgroup": ZGROUP,
      "a/.zarray": ZARRAY,
      "b/zarr.json": ARRAY,
      "c/file": "",
      "d/.zarray": "{",
    };
    const store = await givenKeys(documents);
    for (const path of ["", "a", "b"]) expect(await exists({ store, path }), path).toBe(true);
    for (const path of ["c", "a/b", "none"]) expect(await exists({ store, path }), path).toBe(false);
    await expect(exists({ store, path: "d" })).rejects.toMatchObject({ code: "invalid-metadata" });
    expect(await exists("memory:nowhere")).toBe(false);
    expect(await exists("/nowhere/at-all.zip")).toBe(false);
  });

  it("takes a path of the 2019 draft below which nodes lie for a group", async () => {
    const store = await draftStore();
    for (const path of ["foo", "foo/baz", "foo/baz/qux"])
      expect(await exists({ store, path }), path).toBe(true);
    expect(await exists({ store, path: "foo/none" })).toBe(false);
  });
});

describe("a URL object", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "a url "));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("is taken wherever the text of a URL is", async () => {
    const at = (name: string) => pathToFileURL(join(folder, name));
    const grid = { shape: [4, 4], chunks: [2, 2], dimensionNames: ["y", "x"] };
    await given({ at: at("a b.zarr"), ...grid, dataType: "int16", values: null });
    expect((await open(at("a b.zarr"))).kind).toBe("array");
    expect(await exists(at("none.zarr"))).toBe(false);
    await copy(at("a b.zarr"), at("copy.zarr"));
    expect(await slice(at("copy.zarr"), [0]).shape()).toEqual([4]);
    await pyramid(at("copy.zarr"), at("levels.zarr"), { levels: 2 });
    const found = async (results: AsyncIterable<unknown>) => {
      for await (const result of results) return result;
    };
    expect(await found(diff(at("a b.zarr"), at("copy.zarr")))).toBeUndefined();
    expect(await found(validate(at("copy.zarr"), { fix: true }))).toMatchObject({ level: "info" });
    expect(await found(clean(at("copy.zarr")))).toBeUndefined();
  });
});
