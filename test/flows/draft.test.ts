// @module-tag slow
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { convert, copy, diff, info, openGroup, rechunk, slice, tree, validate } from "../../src/index.ts";
import { type MemoryStore, namedMemoryStore } from "../../src/stores/memory.ts";
import { BOOTSTRAP, DRAFT_ARRAY } from "../hierarchy/draft-stores.ts";
import { everythingIn, jsonAt } from "../hierarchy/keys.ts";

import { all, digestOf, digestsOf, keysOf } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-draft-flows-"));
  await makeSource(`${folder}/source.zarr`);
});
afterAll(() => rm(folder, { recursive: true }));

/** A hierarchy with both memory layouts, both separators, groups with and without documents. */
async function makeSource(url: string): Promise<void> {
  await given({ at: url, zarrFormat: "v3-draft-2019", attributes: { title: "a draft" } });
  const made = [
    ["g/deep/t", { order: "F", codec: "gzip:1", separator: "/", fillValue: Number.NaN }],
    ["g/u", { order: "C", codec: "blosc:lz4:5:shuffle", fillValue: 1.5, attributes: { units: "K" } }],
  ] as const;
  for (const [path, array] of made) {
    await given({ at: `${url}/${path}`, ...array, shape: [4, 6], chunks: [3, 4], dataType: ">f4" });
  }
}

const filesIn = (name: string) => everythingIn(join(folder, name)).filter((file) => !file.endsWith("/"));

describe("copying", () => {
  it("takes every key as it is", async () => {
    const source = await givenKeys({});
    for (const name of filesIn("source.zarr")) {
      await source.set(
        name,
        (await (await openGroup(`${folder}/source.zarr`)).store.get(name)) ?? new Uint8Array(),
      );
    }
    for (const key of ["README", "data/g/u/extra", "meta/root/g/notes.txt"])
      await source.set(key, Uint8Array.of(1));
    await copy(await openGroup(source), `${folder}/copied.zarr`, { verify: true });
    expect(filesIn("copied.zarr")).toEqual((await keysOf(source)).sort());
    const found = await all(diff(`${folder}/source.zarr`, `${folder}/copied.zarr`));
    expect(found.map(({ what, path }) => `${what} ${path}`)).toEqual([
      "key README",
      "key g/notes.txt",
      "key g/u/extra",
    ]);
  });

  it("of a group makes it a hierarchy of its own", async () => {
    await copy(`${folder}/source.zarr/g`, `${folder}/g.zarr`);
    expect(filesIn("g.zarr")).toEqual([
      ...["data/deep/t/0/0", "data/deep/t/0/1", "data/deep/t/1/0", "data/deep/t/1/1"],
      ...["data/u/0.0", "data/u/0.1", "data/u/1.0", "data/u/1.1"],
      ...["meta/root/deep/t.array", "meta/root/u.array", "zarr.json"],
    ]);
    expect(await all(diff(`${folder}/source.zarr/g`, `${folder}/g.zarr`))).toEqual([]);
  });

  it("of an array makes it a root array", async () => {
    await copy(`${folder}/source.zarr/g/u`, `${folder}/u.zarr`);
    expect(filesIn("u.zarr")).toEqual([
      "data/0.0",
      "data/0.1",
      "data/1.0",
      "data/1.1",
      "meta/root.array",
      "zarr.json",
    ]);
    expect(await all(diff(`${folder}/source.zarr/g/u`, `${folder}/u.zarr`))).toEqual([]);
  });

  it("into a zip, and to a path in a store", async () => {
    await copy(`${folder}/source.zarr`, `${folder}/copied.zarr.zip`, { verify: true });
    expect(await all(diff(`${folder}/source.zarr`, `${folder}/copied.zarr.zip`))).toEqual([]);
    await copy(`${folder}/copied.zarr.zip/g`, "memory:draft-flows/p/q");
    const store = namedMemoryStore("draft-flows") as MemoryStore;
    expect(await keysOf(store)).toContain("data/p/q/deep/t/0/0");
    expect(await keysOf(store)).toContain("meta/root/p/q/u.array");
    expect((await all(tree("memory:draft-flows"))).map(({ path }) => path)).toEqual([
      "",
      "p",
      "p/q",
      "p/q/deep",
      "p/q/deep/t",
      "p/q/u",
    ]);
  });

  it("into a hierarchy is refused, where it would be no part of it", async () => {
    await expect(copy(`${folder}/source.zarr/g`, `${folder}/copied.zarr/sub`)).rejects.toMatchObject({
      code: "unsupported-operation",
      details: { path: "sub" },
    });
  });

  it("keeps the bootstrap document that the source has", async () => {
    const own = { ...BOOTSTRAP, extensions: [{ extension: "http://example.org/e", must_understand: false }] };
    const source = await givenKeys({ "zarr.json": own, "meta/root/a.array": DRAFT_ARRAY });
    await rechunk(await openGroup(source), "memory:draft-own", { chunks: ["a:4,6"] });
    const store = namedMemoryStore("draft-own") as MemoryStore;
    expect(await jsonAt(store, "zarr.json")).toEqual(own);
    expect(await jsonAt(store, "meta/root/a.array")).toMatchObject({ chunk_grid: { chunk_shape: [4, 6] } });
  });
});

describe("converting", () => {
  it.each(["v2", "v3", "v3-draft-2020"] as const)("to %s and back keeps all", async (to) => {
    await convert(`${folder}/source.zarr`, `${folder}/to-${to}.zarr`, { to });
    expect(await digestsOf(`${folder}/to-${to}.zarr`)).toEqual(await digestsOf(`${folder}/source.zarr`));
    await convert(`${folder}/to-${to}.zarr`, `${folder}/back-${to}.zarr`, { to: "v3-draft-2019" });
    expect(await digestsOf(`${folder}/back-${to}.zarr`)).toEqual(await digestsOf(`${folder}/source.zarr`));
    const store = (await openGroup(`${folder}/back-${to}.zarr`)).store;
    expect(await jsonAt(store, "zarr.json")).toEqual(BOOTSTRAP);
    expect(await jsonAt(store, "meta/root.group")).toMatchObject({ attributes: { title: "a draft" } });
    const source = (await openGroup(`${folder}/source.zarr`)).store;
    const array = await jsonAt(source, "meta/root/g/deep/t.array");
    const grid = { type: "regular", chunk_shape: [3, 4] };
    expect(await jsonAt(store, "meta/root/g/deep/t.array")).toEqual({ ...array, chunk_grid: grid });
    expect(filesIn(`to-${to}.zarr`).filter((name) => name.endsWith(".array"))).toEqual([]);
    const nodes = await all(tree(`${folder}/to-${to}.zarr`));
    const implied = nodes.filter((node) => node.kind === "group" && node.implied);
    expect(implied.map(({ path }) => path)).toEqual([]);
  });

  it("moves bytes where they mean the same", async () => {
    await convert(`${folder}/source.zarr/g/deep/t`, `${folder}/t.v3.zarr`, { to: "v3" });
    const stored = await readFile(`${folder}/source.zarr/data/g/deep/t/0/0`);
    expect(stored.equals(await readFile(`${folder}/t.v3.zarr/c/0/0`))).toBe(true);
  });

  it("puts keys that are no Zarr among the chunks", async () => {
    const a = { shape: [2], dataType: "int8", values: null };
    await given({ at: `${folder}/notes.zarr`, zarrFormat: "v2", arrays: { a } });
    await writeFile(`${folder}/notes.zarr/a/notes.txt`, "x");
    await convert(`${folder}/notes.zarr`, `${folder}/notes-draft.zarr`, { to: "v3-draft-2019" });
    expect(filesIn("notes-draft.zarr")).toEqual([
      "data/a/notes.txt",
      "meta/root.group",
      "meta/root/a.array",
      "zarr.json",
    ]);
    await writeFile(`${folder}/notes.zarr/more notes.txt`, "x");
    await expect(
      convert(`${folder}/notes.zarr`, `${folder}/more.zarr`, { to: "v3-draft-2019" }),
    ).rejects.toMatchObject({ code: "path-not-allowed", details: { key: "data/more notes.txt" } });
  });

  it("names what is lost, and goes on where that is allowed", async () => {
    const named = { dataType: "float32", dimensionNames: ["x"], fillValue: Uint8Array.of(1, 0, 0xc0, 0x7f) };
    await given({ at: `${folder}/named.zarr`, shape: [2], ...named, values: null });
    const to = "v3-draft-2019";
    await expect(convert(`${folder}/named.zarr`, `${folder}/lost.zarr`, { to })).rejects.toMatchObject({
      code: "loss-refused",
      details: { pointers: ["/dimension_names", "/fill_value"] },
    });
    const allowLoss = ["/dimension_names", "/fill_value"];
    await convert(`${folder}/named.zarr`, `${folder}/lost.zarr`, { to, allowLoss });
    expect((await all(info(`${folder}/lost.zarr`)))[0]).toMatchObject({
      zarrFormat: to,
      dimensionNames: null,
    });
  });

  it("refuses names that the draft does not tell apart, or cannot have", async () => {
    for (const names of [["a", "A"], ["a b"]]) {
      const groups = Object.fromEntries(names.map((name) => [name, {}]));
      const url = await given({ at: `${folder}/names-${names.length}.zarr`, groups });
      await expect(convert(url, `${url}-draft`, { to: "v3-draft-2019" })).rejects.toMatchObject({
        code: "invalid-node-name",
      });
    }
  });
});

it("is cut anew and sliced", async () => {
  await rechunk(`${folder}/source.zarr/g/deep/t`, `${folder}/cut.zarr`, { chunks: "2,6", codec: "none" });
  expect(filesIn("cut.zarr")).toEqual(["data/0/0", "data/1/0", "meta/root.array", "zarr.json"]);
  const sha256 = await digestOf(`${folder}/source.zarr/g/deep/t`);
  expect(await digestsOf(`${folder}/cut.zarr`)).toEqual({ "": sha256 });
  const { data } = await slice(`${folder}/source.zarr/g/u`, "1:2,0:3").read();
  expect([...data]).toEqual([6, 7, 8]);
  await rechunk(`${folder}/source.zarr`, `${folder}/all.zarr`, { chunks: ["g/u:4,6"] });
  expect(await digestsOf(`${folder}/all.zarr`)).toEqual(await digestsOf(`${folder}/source.zarr`));
  expect(filesIn("all.zarr")).toContain("data/g/deep/t/0/0");
});

it("is described by info and tree", async () => {
  expect(await all(info(`${folder}/source.zarr`))).toMatchObject([
    {
      path: "g/deep/t",
      zarrFormat: "v3-draft-2019",
      chunks: 4,
      chunksPresent: 4,
      codecs: ["transpose([1, 0])", "bytes(big)", "gzip(1)"],
    },
    { path: "g/u", chunks: 4, chunksPresent: 4 },
  ]);
  expect(
    (await all(tree(`${folder}/source.zarr`))).map((node) => [
      node.path,
      node.kind === "group" && node.implied,
    ]),
  ).toEqual([
    ["", false],
    ["g", true],
    ["g/deep", true],
    ["g/deep/t", false],
    ["g/u", false],
  ]);
});

describe("validating", () => {
  it("finds nothing where no findings", async () => {
    expect(await all(validate(`${folder}/source.zarr`, { deep: true }))).toEqual([]);
    expect(await all(validate(`${folder}/source.zarr/g`, { deep: true }))).toEqual([]);
  });

  it("finds siblings that differ in case alone, strange keys, wrong chunks, members of arrays", async () => {
    const array = { ...DRAFT_ARRAY, shape: [2], chunk_grid: { type: "regular", chunk_shape: [1] } };
    const store = await givenKeys({
      "zarr.json": BOOTSTRAP,
      "meta/root/g/foo.array": array,
      "meta/root/g/FOO.group": { extensions: [], attributes: {} },
      "meta/root/g/foo/x.array": array,
      "meta/root/a b.array": array,
      "data/g/foo/0": "four",
      "data/g/foo/1": "12",
      "data/g/foo/9": "four",
      "data/stray/0": "x",
      "meta/root/lax.group": {},
      "meta/root/bad.array": {},
    });
    const found = await all(validate(await openGroup(store)));
    expect(found.map(({ what, path, key }) => [what, path, key])).toEqual(
      expect.arrayContaining([
        ["sibling-names", "g/foo", undefined],
        ["inside-array", "g/foo/x", undefined],
        ["chunk-size", "g/foo", "data/g/foo/1"],
        ["outside-grid", "g/foo", "data/g/foo/9"],
        ["unknown-key", "", "data/stray/0"],
        ["metadata", "lax", undefined],
        ["metadata", "bad", "meta/root/bad.array"],
      ]),
    );
    expect(found.find(({ what }) => what === "unknown-key")?.count).toBe(2);
    expect(found.map(({ what }) => what)).not.toContain("implied-group");
  });
});
