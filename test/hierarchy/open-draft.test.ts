import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ZarrGroup } from "../../src/hierarchy/node.ts";
import { open, openArray, openGroup } from "../../src/hierarchy/open/open.ts";
import { walk } from "../../src/hierarchy/open/walk.ts";
import { serveValues } from "../stores/value-server.ts";
import { all } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";
import { BOOTSTRAP, DRAFT_ARRAY, DRAFT_DOCUMENTS, DRAFT_GROUP, draftStore } from "./draft-stores.ts";
import { UnlistedStore, ZARRAY } from "./stores.ts";

async function below(group: ZarrGroup): Promise<string[]> {
  return (await all(walk(group))).map(
    ({ path, kind, documents }) => `${path} ${kind}${documents.size === 0 ? " implied" : ""}`,
  );
}

describe("a hierarchy of the draft of 2019", () => {
  it("is opened at any path, with or without a slash in front", async () => {
    const store = await draftStore();
    for (const path of ["foo/baz/qux", "/foo/baz/qux"]) {
      const array = await openArray({ store, path });
      expect(array).toMatchObject({ path: "foo/baz/qux", shape: [4, 6] });
      expect(array.layout.zarrFormat).toBe("v3-draft-2019");
      expect(array.chunkKey([1, 1])).toBe("data/foo/baz/qux/1.1");
    }
    expect((await openGroup({ store, path: "foo/bar" })).attributes).toEqual({ spam: "ham" });
  });

  it("has groups without documents", async () => {
    const store = await draftStore();
    for (const path of ["", "foo", "foo/baz", "dots.array", "dots.array/x.group"]) {
      const group = await openGroup({ store, path });
      expect(group.documents.size).toBe(0);
      expect(group.attributes).toEqual({});
      expect(group.findings).toEqual([]);
    }
    const empty = await openGroup(await givenKeys({ "zarr.json": BOOTSTRAP }));
    expect(await below(empty)).toEqual([]);
  });

  it("is walked, node by node", async () => {
    const foreign = { "meta/root/README.md": "", "meta/root/a b.array": DRAFT_ARRAY, "data/stray/0.0": "" };
    expect(await below(await openGroup(await draftStore(foreign)))).toEqual([
      "dots.array group implied",
      "dots.array/x.group group implied",
      "dots.array/x.group/y array",
      "foo group implied",
      "foo/bar group",
      "foo/baz group implied",
      "foo/baz/qux array",
      "top array",
    ]);
    expect(await below(await openGroup({ store: await draftStore(), path: "foo" }))).toEqual([
      "foo/bar group",
      "foo/baz group implied",
      "foo/baz/qux array",
    ]);
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
    const node = await open({ store, path: "top" });
    expect(node.kind).toBe("array");
    expect(node.findings).toHaveLength(1);
    expect((await below(await openGroup(store))).filter((line) => line.startsWith("top"))).toEqual([
      "top array",
    ]);
  });

  it("names what was tried, and the nearest member", async () => {
    const store = await draftStore();
    await expect(open({ store, path: "foo/baz/qix" })).rejects.toMatchObject({
      code: "not-found",
      details: {
        format: "v3-draft-2019",
        path: "foo/baz/qix",
        found: "none of meta/root/foo/baz/qix.array, meta/root/foo/baz/qix.group, meta/root/foo/baz/qix/",
        hint: "Did you mean `qux`?",
      },
    });
    await expect(open({ store, path: "foo/nowhere" })).rejects.toMatchObject({
      details: { hint: "Its members are bar, baz." },
    });
  });

  it.each([
    ["foo/b z", "has a character other than"],
    ["foo/...", "has only periods"],
    [`foo/${"x".repeat(256)}`, "is longer than 255 characters"],
  ])("refuses the path %j", async (path, rule) => {
    const error = await open({ store: await draftStore(), path }).catch((e) => e);
    expect(error).toMatchObject({ code: "invalid-node-name", details: { path } });
    expect(error.message).toContain(rule);
  });

  it("is judged by its bootstrap document before anything else", async () => {
    const store = await draftStore({ "zarr.json": { ...BOOTSTRAP, metadata_encoding: "text/xml" } });
    for (const path of ["", "foo", "foo/baz/qux"]) {
      await expect(open({ store, path })).rejects.toMatchObject({
        code: "unsupported-encoding",
        details: { key: "zarr.json", pointer: "/metadata_encoding" },
      });
    }
  });

  it("is read where the store cannot list, as far as paths are known", async () => {
    const store = new UnlistedStore(await draftStore());
    expect((await open({ store, path: "foo/baz/qux" })).kind).toBe("array");
    expect((await open({ store, path: "foo/bar" })).kind).toBe("group");
    const error = await open({ store, path: "foo" }).catch((e) => e);
    expect(error).toMatchObject({ code: "not-found" });
    expect(error.details.hint).toContain("cannot list");
    const root = await openGroup(store);
    await expect(walk(root).next()).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("does not hide nodes of other formats at their own paths", async () => {
    const store = await draftStore({ "own/.zarray": ZARRAY });
    expect((await open({ store, path: "own" })).layout.zarrFormat).toBe("v2");
  });
});

describe("a later draft of v3", () => {
  const later = {
    "zarr.json": {
      ...BOOTSTRAP,
      metadata_encoding: BOOTSTRAP.zarr_format,
      metadata_key_suffix: ".json",
    },
    "meta/root/grp.group.json": { attributes: {} },
    "meta/root/grp/arr.array.json": DRAFT_ARRAY,
  };

  it("is read, with the keys of its chunks", async () => {
    const root = await openGroup(await givenKeys(later));
    expect(await below(root)).toEqual(["grp group", "grp/arr array"]);
    const array = await openArray({ store: root.store, path: "grp/arr" });
    expect(array.layout.zarrFormat).toBe("v3-draft-2020");
    expect(array.chunkKey([0, 1])).toBe("data/root/grp/arr/c0/1");
  });

  it("with another suffix is not", async () => {
    const other = { ...later["zarr.json"], metadata_key_suffix: ".cbor" };
    await expect(open(await givenKeys({ ...later, "zarr.json": other }))).rejects.toMatchObject({
      code: "unsupported-format",
      details: { format: "v3-draft-2020", pointer: "/metadata_key_suffix" },
    });
  });
});

describe("a hierarchy somewhere above", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "zarrflow-draft-"));
    for (const [key, document] of Object.entries(DRAFT_DOCUMENTS)) {
      await mkdir(dirname(join(folder, "h", key)), { recursive: true });
      await writeFile(join(folder, "h", key), JSON.stringify(document));
    }
    await mkdir(join(folder, "lost/meta/root"), { recursive: true });
    await writeFile(join(folder, "lost/meta/root/a.array"), JSON.stringify(DRAFT_ARRAY));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("is found from the path of a URL", async () => {
    const array = await openArray(`${folder}/h/foo/baz/qux`);
    expect(array).toMatchObject({ path: "foo/baz/qux", spec: { kind: "directory", path: `${folder}/h` } });
    expect((await open(`${folder}/h/foo/baz/qux|zarr3-draft-2019:`)).path).toBe("foo/baz/qux");
    await expect(open(`${folder}/h/foo/baz/qux|zarr2:`)).rejects.toMatchObject({ code: "not-found" });
    await expect(open(`${folder}/h/foo/nope`)).rejects.toMatchObject({
      code: "not-found",
      details: { path: "foo/nope" },
    });
  });

  it("is found from the path on a web server", async () => {
    const values = Object.entries(DRAFT_DOCUMENTS).map(([key, document]): [string, Uint8Array] => [
      `h.zarr/${key}`,
      new TextEncoder().encode(JSON.stringify(document)),
    ]);
    const server = await serveValues(new Map(values));
    try {
      const array = await openArray(`${server.url}/h.zarr/foo/baz/qux`);
      expect(array).toMatchObject({
        path: "foo/baz/qux",
        spec: { kind: "http", url: `${server.url}/h.zarr` },
      });
      const error = await open(`${server.url}/h.zarr/foo`).catch((e) => e);
      expect(error).toMatchObject({ code: "not-found", details: { path: "foo" } });
      expect(error.details.hint).toContain("cannot list");
    } finally {
      await server.close();
    }
  });

  it("is not made up where its bootstrap document is missing", async () => {
    const error = await open(`${folder}/lost|zarr3-draft-2019:a`).catch((e) => e);
    expect(error).toMatchObject({ code: "not-found", details: { path: "a", key: "zarr.json" } });
    await expect(open(`${folder}/lost/a`)).rejects.toMatchObject({ code: "not-found" });
    await expect(open(`${folder}/lost|zarr3-draft-2019:b`)).rejects.toMatchObject({ code: "not-found" });
  });

  it("may be a folder of any store", async () => {
    const documents = Object.entries(DRAFT_DOCUMENTS).map(([key, document]) => [`in/side/${key}`, document]);
    const store = await givenKeys(Object.fromEntries(documents));
    await store.set("in/side/data/top/0.0", new Uint8Array(24));
    const array = await openArray({ store, path: "in/side/top" });
    expect(array.path).toBe("top");
    expect(await array.store.size(array.chunkKey([0, 0]))).toBe(24);
    const root = await openGroup({ store, path: "in/side" });
    expect(await below(root)).toContain("foo/baz/qux array");
    await expect(open({ store, path: "in/side/tip" })).rejects.toMatchObject({
      details: { path: "tip", hint: "Did you mean `top`?" },
    });
  });
});
