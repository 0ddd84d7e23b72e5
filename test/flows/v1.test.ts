// @module-tag slow
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  convert,
  copy,
  create,
  createGroup,
  deleteNode,
  diff,
  info,
  type NewArray,
  open,
  openArray,
  rechunk,
  setAttributes,
  slice,
  sliceTo,
  tree,
  validate,
} from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { UnlistedStore } from "../hierarchy/stores.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all, digestOf, keysOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { documentIn, storeV1Array, writeV1Array } from "../support/v1-store.ts";

const folder = temporaryFolder();

async function made(array: Parameters<typeof writeV1Array>[1], items: ArrayBufferView): Promise<string> {
  const target = folder.next("a.zarr");
  await writeV1Array(target, array, items);
  return target;
}

async function stored(chunk: Uint8Array, meta: object): Promise<string> {
  const target = folder.next("other.zarr");
  await storeV1Array(target, chunk, meta);
  return target;
}

const dataOf = async (source: Parameters<typeof slice>[0]) => [...(await slice(source).read()).data];
const sameFile = (name: string, ...[a, b]: [string, string]) =>
  expect(readFileSync(join(a, name)), name).toEqual(readFileSync(join(b, name)));

const names = { dimensionNames: ["y", "x"], attributes: { units: "K", deep: { a: [1, null] } } };
const ramp = Int32Array.from({ length: 30 }, (_, i) => i - 7);
const BYTES = new TextEncoder().encode("abc".repeat(30));

const ARRAYS: readonly [string, Omit<NewArray, "shape" | "chunks">, ArrayBufferView][] = [
  ["blosc by default", { dataType: "int32", fillValue: 42 }, ramp],
  ["blosc in order F", { dataType: "int32", order: "F", codec: "blosc:zlib:9:bitshuffle" }, ramp],
  ["zlib, big-endian", { dataType: ">i4", codec: "zlib:6", fillValue: -1 }, ramp],
  [
    "no compression, a fill value of NaN",
    { dataType: "float64", codec: "none", fillValue: Number.NaN },
    Float64Array.from(ramp),
  ],
  [
    "blosc of snappy, complex",
    { dataType: "complex64", codec: "blosc:snappy:5:noshuffle", fillValue: [1.5, 0] },
    Float32Array.from({ length: 60 }, (_, i) => i / 4),
  ],
  [
    "the least integer of 64 bits",
    { dataType: "int64", codec: "zlib", fillValue: -(2n ** 63n) },
    BigInt64Array.from({ length: 30 }, (_, i) => BigInt(i)),
  ],
  ["fixed bytes", { dataType: "S3", codec: "zlib" }, BYTES],
  ["no fill value", { dataType: "uint8", fillValue: null }, new Uint8Array(30).fill(9)],
];

test.each(ARRAYS)(
  "an array with %s keeps its digest in other formats and back, and on other grids",
  async (_, array, items) => {
    const source = await made({ ...array, ...names }, items);
    const chunks = ["0.0", "0.1", "1.0", "1.1"];
    const files = readdirSync(source).sort();
    expect(files).toEqual([...chunks, "attrs", "meta"].filter((name) => files.includes(name)));
    const attributes = { _ARRAY_DIMENSIONS: ["y", "x"], deep: { a: [1, null] }, units: "K" };
    expect(documentIn(source, "attrs")).toEqual(attributes);
    expect(await open(source)).toMatchObject({ kind: "array", shape: [7, 10], dimensionNames: ["y", "x"] });
    const sha256 = await digestOf(source);
    for (const to of ["v2", "v3"] as const) {
      const [there, back] = [`${source}.${to}`, `${source}.${to}.v1`];
      await convert(source, there, { to, verify: true });
      expect(await digestOf(there), to).toBe(sha256);
      await convert(there, back, { to: "v1", verify: true });
      expect(await digestOf(back), `${to} and back`).toBe(sha256);
      if (array.fillValue !== null || to === "v2") expect(documentIn(back)).toEqual(documentIn(source));
      for (const name of ["attrs", "0.0"]) sameFile(name, back, source);
    }
    const other = `${source}.rechunked`;
    await rechunk(source, other, { chunks: { y: -1, x: 3 }, codec: "zlib" });
    expect(await digestOf(other)).toBe(sha256);
    expect(documentIn(other)).toMatchObject({ chunks: [7, 3], compression: "zlib", order: "C" });
    sameFile("attrs", other, source);
    expect((await all(diff(source, other))).filter(({ counts }) => counts)).toEqual([]);
  },
);

describe("a copy", () => {
  test("is byte for byte the same, with what else lies there", async () => {
    const source = await made({ dataType: "int32", ...names }, ramp);
    await writeFile(join(source, "README"), "mine");
    await writeFile(join(source, "0.0.k3j4h5.partial"), "cut");
    await copy(source, `${source}.zip`, { verify: true });
    await copy(`${source}.zip`, `${source}.back`);
    const files = readdirSync(source).sort();
    expect(files).toContain("README");
    expect(readdirSync(`${source}.back`).sort()).toEqual(files);
    for (const name of files) sameFile(name, `${source}.back`, source);
  });

  test("makes another codec on the way", async () => {
    const source = await made({ dataType: "int32" }, ramp);
    await copy(source, `${source}.plain`, { codec: "none" });
    expect(documentIn(`${source}.plain`)).toMatchObject({ compression: "none", compression_opts: null });
    expect(readFileSync(join(`${source}.plain`, "0.0"))).toHaveLength(48);
    expect(await digestOf(`${source}.plain`)).toBe(await digestOf(source));
    const zstd = copy(source, `${source}.zstd`, { codec: "zstd" });
    const details = { pointers: ["/compression"] };
    await expect(zstd).rejects.toMatchObject({ code: "loss-refused", details });
    expect(existsSync(`${source}.zstd`)).toBe(false);
  });
});

test("info, validate and a slice report and take an array of v1", async () => {
  const source = await made({ dataType: "int32", fillValue: 42, ...names }, ramp);
  const codecs = ["bytes(little)", "blosc(lz4, 5, shuffle)"];
  expect(await all(info(source))).toMatchObject([{ zarrFormat: "v1", chunks: 9, chunksPresent: 4, codecs }]);
  expect(await all(validate(source, { deep: true }))).toMatchObject([{ what: "missing-chunks", count: 5 }]);
  for (const name of ["9.9", "0.0.x1.partial"]) await writeFile(join(source, name), "x");
  const kinds = (await all(validate(source))).map(({ what }) => what);
  expect(kinds.sort()).toEqual(["missing-chunks", "outside-grid", "unknown-key"]);
  await sliceTo(source, `${source}.part`, { slice: { y: [4, 7], x: 2 } });
  expect(documentIn(`${source}.part`)).toMatchObject({ zarr_format: 1, shape: [3, 1] });
  expect(await dataOf(`${source}.part`)).toEqual([19, 42, 42]);
  // a bare NaN is not JSON
  const nan = await made({ dataType: "float32", fillValue: Number.NaN }, Float32Array.from(ramp));
  expect(await all(validate(nan))).toMatchObject([
    { level: "warning", what: "metadata", pointer: "/fill_value" },
    { level: "info", what: "missing-chunks" },
  ]);
});

const shorts = (...items: readonly number[]) => new Uint8Array(Int16Array.from(items).buffer);
const ITEMS = [0, 1, 2, 3, 4, 5];

describe("order F without blosc", () => {
  const compressed = { compression: "zlib", compression_opts: 1, order: "F" };

  test("is C, as the one writer made it", async () => {
    const source = await stored(deflateSync(shorts(...ITEMS)), compressed);
    expect(await dataOf(source)).toEqual(ITEMS);
    await convert(source, `${source}.v2`, { to: "v2" });
    expect(documentIn(`${source}.v2`, ".zarray")).toMatchObject({ order: "C" });
    sameFile("0.0", `${source}.v2`, source);
    await rechunk(source, `${source}.rechunked`, { chunks: [1, 3] });
    expect(documentIn(`${source}.rechunked`)).toMatchObject({ order: "C" });
    expect(await dataOf(`${source}.rechunked`)).toEqual(ITEMS);
  });

  test("is F where the reader takes it as stated, in every flow", async () => {
    const source = await stored(deflateSync(shorts(0, 3, 1, 4, 2, 5)), compressed);
    const array = await openArray(source, { v1Order: "as-stated" });
    expect(await dataOf(array)).toEqual(ITEMS);
    for (const to of ["v1", "v2", "v3"] as const) {
      await rechunk(array, `${source}.${to}`, { chunks: [1, 3], to });
      expect(await dataOf(`${source}.${to}`), to).toEqual(ITEMS);
    }
    await convert(array, `${source}.as-it-is`, { to: "v2" });
    expect(documentIn(`${source}.as-it-is`, ".zarray")).toMatchObject({ order: "F" });
    expect(await dataOf(await setAttributes(array, { units: "m" }))).toEqual(ITEMS);
  });

  test("is given up for C when an array comes from another format", async () => {
    const inF = { shape: [2, 3], dataType: "int16", order: "F", codec: "zlib", values: ITEMS } as const;
    const source = await given({ at: folder.next("v2.zarr"), zarrFormat: "v2", ...inF });
    await convert(source, `${source}.v1`, { to: "v1" });
    expect(documentIn(`${source}.v1`)).toMatchObject({ order: "C", compression: "zlib" });
    expect(await dataOf(`${source}.v1`)).toEqual(ITEMS);
  });
});

test.each([
  ["a zlib stream", deflateSync],
  ["a gzip file", gzipSync],
])("the name gzip may mean %s", async (_, compress) => {
  const source = await stored(compress(shorts(...ITEMS)), { compression: "gzip", compression_opts: 1 });
  expect(await dataOf(source)).toEqual(ITEMS);
  await rechunk(source, `${source}.rechunked`, { chunks: [1, 3] });
  expect(documentIn(`${source}.rechunked`)).toMatchObject({ compression: "zlib" });
  await copy(source, `${source}.v2`, { to: "v2", codec: "zlib" });
  expect(await digestOf(`${source}.v2`)).toBe(await digestOf(source));
});

const OTHER_LENGTH = [2, 1, 2, 2, 10, 0, 0, 0, 10, 0, 0, 0, 26, 0, 0, 0, ...new Uint8Array(10)];
/** Zstandard as it was in 2016. */
const OLD = [
  2, 1, 0x90, 2, 12, 0, 0, 0, 12, 0, 0, 0, 32, 0, 0, 0, 20, 0, 0, 0, 8, 0, 0, 0, 0x27, 0xb5, 0x2f, 0xfd, 0x20,
  0x0c, 0, 0,
];
const NAMED = { code: "corrupt-chunk", details: { key: "0.0" } };
test.each([
  ["cut", "zlib", deflateSync(shorts(...ITEMS)).subarray(0, 9), NAMED],
  ["too short", "none", new Uint8Array(11), NAMED],
  ["too long", null, new Uint8Array(13), NAMED],
  ["of a cut header", "blosc", new Uint8Array(15), NAMED],
  ["of another length", "blosc", Uint8Array.from(OTHER_LENGTH), NAMED],
  ["of zstd as it was in 2016", "blosc", Uint8Array.from(OLD), { code: "codec-error" }],
])("a chunk that is %s is no garbage", async (_, compression, chunk, error) => {
  const source = await stored(chunk, { compression, compression_opts: compression === "zlib" ? 1 : null });
  await expect(slice(source).read()).rejects.toMatchObject(error);
});

describe("arrays side by side", () => {
  test("are no group: the folder is nothing, and its arrays are offered", async () => {
    const root = folder.next("two");
    const array = { chunks: [2], dataType: "uint8", zarrFormat: "v1", values: [1, 2, 3, 4] } as const;
    for (const name of ["b", "a"]) await given({ at: join(root, name), ...array });
    expect(readdirSync(root).sort()).toEqual(["a", "b"]);
    const details = { hint: "Open one of the folders inside it: a, b." };
    for (const act of [open, (url: string) => all(tree(url))])
      await expect(act(root)).rejects.toMatchObject({ code: "not-found", details });
    expect(await all(tree(join(root, "a")))).toMatchObject([{ path: "", kind: "array", zarrFormat: "v1" }]);
    await copy(root, `${root}.copy`);
    expect(readdirSync(`${root}.copy`).sort()).toEqual(["a", "b"]);
  });

  test("are what is left of a group, where that is allowed", async () => {
    const a = { chunks: [2], dataType: "uint8", codec: "blosc", values: [1, 2, 3, 4] };
    const source = await given({ at: folder.next("group.zarr"), attributes: { title: "x" }, arrays: { a } });
    const pointers = ["/node_type", "/attributes"];
    const refused = convert(source, `${source}.v1`, { to: "v1" });
    await expect(refused).rejects.toMatchObject({ code: "loss-refused", details: { pointers } });
    await convert(source, `${source}.v1`, { to: "v1", allowLoss: pointers, verify: true });
    expect(readdirSync(`${source}.v1`)).toEqual(["a"]);
    expect(await digestOf(`${source}.v1/a`)).toBe(await digestOf(`${source}/a`));
  });
});

describe("an array in place", () => {
  test("grows, gets other attributes, and goes", async () => {
    const target = folder.next("grown.zarr");
    const rows = { shape: [0, 3], chunks: [2, 3], dataType: "int16", zarrFormat: "v1" } as const;
    const writer = await create(target, rows);
    await writer.append([Int16Array.of(1, 2, 3), Int16Array.of(4, 5, 6), Int16Array.of(7, 8, 9)]);
    await writer.close();
    expect(documentIn(target)).toMatchObject({ shape: [3, 3] });
    const before = readFileSync(join(target, "meta"));
    const array = await setAttributes(await open(target), { units: "K", note: undefined });
    expect(array.attributes).toEqual({ units: "K" });
    expect(documentIn(target, "attrs")).toEqual({ units: "K" });
    expect(readFileSync(join(target, "meta"))).toEqual(before);
    expect(await dataOf(target)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await deleteNode(array);
    expect(readdirSync(target)).toEqual([]);
  });

  test("has no array below it, and is part of no other hierarchy", async () => {
    const source = await made({ dataType: "int32" }, ramp);
    const array = { shape: [1], chunks: [1], dataType: "int8" } as const;
    await expect(create(join(source, "b"), array)).rejects.toMatchObject({ code: "path-not-allowed" });
    const root = folder.next("group.zarr");
    await (await createGroup(root)).close();
    const other = create(join(root, "b"), { ...array, zarrFormat: "v1" });
    const details = { expected: "v3", found: "v1" };
    await expect(other).rejects.toMatchObject({ code: "invalid-option", details });
  });

  test("is read by URL where documents of another format come first", async () => {
    const source = await made({ dataType: "int32", attributes: { a: 1 } }, ramp);
    const other = { zarr_format: 3, node_type: "group", attributes: { b: 2 } };
    await writeFile(join(source, "zarr.json"), JSON.stringify(other));
    const findings = [{ message: expect.stringContaining("meta") }];
    expect(await open(source)).toMatchObject({ kind: "group", attributes: { b: 2 }, findings });
    const array = { kind: "array", attributes: { a: 1 }, findings: [] };
    expect(await open(`${source}|zarr1:`)).toMatchObject(array);
  });

  test("lies in a folder of any store, also of one that cannot list", async () => {
    const items = { chunks: [2], dataType: "uint8", attributes: { a: 1 }, values: [1, 2, 3, 4] };
    const place = { store: new MemoryStore(), path: "a/b" };
    const { store } = await given({ at: place, zarrFormat: "v1", ...items });
    expect(await keysOf(store)).toEqual(["a/b/0", "a/b/1", "a/b/attrs", "a/b/meta"]);
    const array = await openArray({ store: new UnlistedStore(store), path: "a/b" });
    expect(array.attributes).toEqual({ a: 1 });
    expect(await dataOf(array)).toEqual([1, 2, 3, 4]);
  });
});
