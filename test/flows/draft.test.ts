// @module-tag slow
import { readFile, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { convert, copy, diff, info, openGroup, rechunk, slice, tree, validate } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { MemoryStore, namedMemoryStore } from "../../src/stores/memory.ts";
import { BOOTSTRAP, DRAFT_ARRAY } from "../hierarchy/draft-stores.ts";
import { everythingIn, jsonAt } from "../hierarchy/keys.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all, digestOf, digestsOf, keysOf, valuesIn } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";
import { memoryTargets } from "../support/memory-targets.ts";

const folder = temporaryFolder();
const target = memoryTargets();
const to = "v3-draft-2019";
let source = "";

/** A hierarchy with both memory layouts, both separators, groups with and without documents. */
beforeAll(async () => {
  source = folder.next("source.zarr");
  await given({ at: source, zarrFormat: to, attributes: { title: "a draft" } });
  const grid = { shape: [4, 6], chunks: [3, 4], dataType: ">f4" };
  const t = { order: "F", codec: "gzip:1", separator: "/", fillValue: Number.NaN } as const;
  await given({ at: `${source}/g/deep/t`, ...grid, ...t });
  const u = { order: "C", codec: "blosc:lz4:5:shuffle", fillValue: 1.5, attributes: { units: "K" } } as const;
  await given({ at: `${source}/g/u`, ...grid, ...u });
});

const filesIn = (url: string) => everythingIn(url).filter((file) => !file.endsWith("/"));

describe("copying", () => {
  it("takes every key as it is", async () => {
    const store = await givenKeys(Object.fromEntries(await valuesIn(new DirectoryStore(source))));
    await givenKeys({ README: "1", "data/g/u/extra": "1", "meta/root/g/notes.txt": "1" }, store);
    const copied = folder.next();
    await copy(await openGroup(store), copied, { verify: true });
    expect(filesIn(copied)).toEqual((await keysOf(store)).sort());
    const found = (await all(diff(source, copied))).map(({ what, path }) => `${what} ${path}`);
    expect(found).toEqual(["key README", "key g/notes.txt", "key g/u/extra"]);
  });

  it.each([
    [
      "group",
      "g",
      "data/deep/t/0/0 data/deep/t/0/1 data/deep/t/1/0 data/deep/t/1/1 data/u/0.0 data/u/0.1 data/u/1.0 data/u/1.1 meta/root/deep/t.array meta/root/u.array zarr.json",
    ],
    ["array", "g/u", "data/0.0 data/0.1 data/1.0 data/1.1 meta/root.array zarr.json"],
  ])("of a %s makes it a hierarchy of its own", async (_, path, keys) => {
    const copied = folder.next();
    await copy(`${source}/${path}`, copied);
    expect(filesIn(copied)).toEqual(keys.split(" "));
    expect(await all(diff(`${source}/${path}`, copied))).toEqual([]);
  });

  it("into a zip, and to a path in a store", async () => {
    const [zip, url] = [folder.next("copied.zarr.zip"), target("draft-flows")];
    await copy(source, zip, { verify: true });
    expect(await all(diff(source, zip))).toEqual([]);
    await copy(`${zip}/g`, `${url}/p/q`);
    const keys = expect.arrayContaining(["data/p/q/deep/t/0/0", "meta/root/p/q/u.array"]);
    expect(await keysOf(namedMemoryStore("draft-flows") as MemoryStore)).toEqual(keys);
    const paths = (await all(tree(url))).map(({ path }) => path);
    expect(paths).toEqual(["", "p", "p/q", "p/q/deep", "p/q/deep/t", "p/q/u"]);
  });

  it("into a hierarchy is refused, where it would be no part of it", async () => {
    const refusal = { code: "unsupported-operation", details: { path: "sub" } };
    const there = folder.next();
    await copy(source, there);
    await expect(copy(`${source}/g`, `${there}/sub`)).rejects.toMatchObject(refusal);
  });

  it("keeps the bootstrap document that the source has", async () => {
    const own = { ...BOOTSTRAP, extensions: [{ extension: "http://example.org/e", must_understand: false }] };
    const store = await givenKeys({ "zarr.json": own, "meta/root/a.array": DRAFT_ARRAY });
    const target = new MemoryStore();
    await rechunk(await openGroup(store), target, { chunks: ["a:4,6"] });
    expect(await jsonAt(target, "zarr.json")).toEqual(own);
    expect(await jsonAt(target, "meta/root/a.array")).toMatchObject({ chunk_grid: { chunk_shape: [4, 6] } });
  });
});

describe("converting", () => {
  it.each(["v2", "v3", "v3-draft-2020"] as const)("to %s and back keeps all", async (other) => {
    const [there, back] = [folder.next(), folder.next()];
    await convert(source, there, { to: other });
    await convert(there, back, { to });
    for (const url of [there, back]) expect(await digestsOf(url)).toEqual(await digestsOf(source));
    const [store, before] = [new DirectoryStore(back), new DirectoryStore(source)];
    expect(await jsonAt(store, "zarr.json")).toEqual(BOOTSTRAP);
    expect(await jsonAt(store, "meta/root.group")).toMatchObject({ attributes: { title: "a draft" } });
    const key = "meta/root/g/deep/t.array";
    const chunk_grid = { type: "regular", chunk_shape: [3, 4] };
    expect(await jsonAt(store, key)).toEqual({ ...(await jsonAt(before, key)), chunk_grid });
    expect(filesIn(there).filter((name) => name.endsWith(".array"))).toEqual([]);
    for (const node of await all(tree(there))) if (node.kind === "group") expect(node.implied).toBeFalsy();
  });

  it("moves bytes where they mean the same", async () => {
    const target = folder.next();
    await convert(`${source}/g/deep/t`, target, { to: "v3" });
    const stored = await readFile(`${source}/data/g/deep/t/0/0`);
    expect(stored.equals(await readFile(`${target}/c/0/0`))).toBe(true);
  });

  it("puts keys that are no Zarr among the chunks", async () => {
    const a = { shape: [2], dataType: "int8", values: null };
    const [notes, target] = [folder.next(), folder.next()];
    await given({ at: notes, zarrFormat: "v2", arrays: { a } });
    await writeFile(`${notes}/a/notes.txt`, "x");
    await convert(notes, target, { to });
    const keys = ["data/a/notes.txt", "meta/root.group", "meta/root/a.array", "zarr.json"];
    expect(filesIn(target)).toEqual(keys);
    await writeFile(`${notes}/more notes.txt`, "x");
    const refusal = { code: "path-not-allowed", details: { key: "data/more notes.txt" } };
    await expect(convert(notes, folder.next(), { to })).rejects.toMatchObject(refusal);
  });

  it("names what is lost, and goes on where that is allowed", async () => {
    const [named, lost] = [folder.next(), folder.next()];
    const own = { dimensionNames: ["x"], fillValue: Uint8Array.of(1, 0, 0xc0, 0x7f) };
    await given({ at: named, shape: [2], dataType: "float32", ...own, values: null });
    const allowLoss = ["/dimension_names", "/fill_value"];
    const refusal = { code: "loss-refused", details: { pointers: allowLoss } };
    await expect(convert(named, lost, { to })).rejects.toMatchObject(refusal);
    await convert(named, lost, { to, allowLoss });
    expect((await all(info(lost)))[0]).toMatchObject({ zarrFormat: to, dimensionNames: null });
  });

  it("refuses names that the draft does not tell apart, or cannot have", async () => {
    for (const names of [["a", "A"], ["a b"]]) {
      const groups = Object.fromEntries(names.map((name) => [name, {}]));
      const converted = convert(await given({ groups }), folder.next(), { to });
      await expect(converted).rejects.toMatchObject({ code: "invalid-node-name" });
    }
  });
});

it("is cut anew and sliced", async () => {
  const [cut, whole] = [folder.next(), folder.next()];
  await rechunk(`${source}/g/deep/t`, cut, { chunks: "2,6", codec: "none" });
  expect(filesIn(cut)).toEqual(["data/0/0", "data/1/0", "meta/root.array", "zarr.json"]);
  expect(await digestOf(cut)).toBe(await digestOf(`${source}/g/deep/t`));
  const { data } = await slice(`${source}/g/u`, "1:2,0:3").read();
  expect([...data]).toEqual([6, 7, 8]);
  await rechunk(source, whole, { chunks: ["g/u:4,6"] });
  expect(await digestsOf(whole)).toEqual(await digestsOf(source));
  expect(filesIn(whole)).toContain("data/g/deep/t/0/0");
});

it("is described by info and tree", async () => {
  const codecs = ["transpose([1, 0])", "bytes(big)", "gzip(1)"];
  expect(await all(info(source))).toMatchObject([
    { path: "g/deep/t", zarrFormat: to, chunks: 4, chunksPresent: 4, codecs },
    { path: "g/u", chunks: 4, chunksPresent: 4 },
  ]);
  const nodes = (await all(tree(source))).map((node) => [node.path, node.kind === "group" && node.implied]);
  expect(nodes).toEqual([
    ["", false],
    ["g", true],
    ["g/deep", true],
    ["g/deep/t", false],
    ["g/u", false],
  ]);
});

it("is validated: siblings that differ in case alone, strange keys, wrong chunks, members of arrays", async () => {
  for (const url of [source, `${source}/g`]) expect(await all(validate(url, { deep: true }))).toEqual([]);
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
  expect(found.map(({ what, path, key }) => `${what} ${path} ${key}`)).toEqual(
    expect.arrayContaining([
      "sibling-names g/foo undefined",
      "inside-array g/foo/x undefined",
      "chunk-size g/foo data/g/foo/1",
      "outside-grid g/foo data/g/foo/9",
      "unknown-key  data/stray/0",
      "metadata lax undefined",
      "metadata bad meta/root/bad.array",
    ]),
  );
  expect(found.find(({ what }) => what === "unknown-key")?.count).toBe(2);
  expect(found.map(({ what }) => what)).not.toContain("implied-group");
});
