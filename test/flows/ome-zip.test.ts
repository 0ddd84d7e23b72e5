// @module-tag slow
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { convert, copy, rechunk, sliceTo, validate } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { openZipFile, openZipValue, zipInStore } from "../../src/stores/zip.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { testFolder } from "../support/cli.ts";
import { given } from "../support/given.ts";
import { imageAttributes, imageNodes } from "../support/ome-images.ts";

const RECIPE = {
  zarrFormat: "v3",
  axes: ["y", "x"],
  shapes: [
    [8, 8],
    [4, 4],
  ],
  labels: ["cells"],
} as const;

/** An image in a folder, with labels two levels below, and a file that is no Zarr. */
const image = (at: string) =>
  given({ at, zarrFormat: "v3", attributes: imageAttributes(RECIPE), ...imageNodes(RECIPE) });

let folder = "";
let source = "";
beforeEach(async () => {
  folder = await testFolder();
  source = join(folder, "image.zarr");
  await image(source);
  await writeFile(join(source, "a.txt"), "no Zarr");
});

/** Names in the directory of an archive, in its order and in that of its entries, and its comment. */
async function layoutOf(bytes: Uint8Array) {
  const buffer = Buffer.from(bytes);
  const end = buffer.lastIndexOf(Buffer.from("PK\x05\x06"));
  const comment = buffer.subarray(end + 22).toString();
  const names: { name: string; offset: number }[] = [];
  for (let at = buffer.readUInt32LE(end + 16); names.length < buffer.readUInt16LE(end + 10); ) {
    const lengths = [28, 30, 32].map((field) => buffer.readUInt16LE(at + field));
    const name = buffer.subarray(at + 46, at + 46 + (lengths[0] ?? 0)).toString();
    names.push({ name, offset: buffer.readUInt32LE(at + 42) });
    at += 46 + lengths.reduce((sum, length) => sum + length, 0);
  }
  const stored = names.toSorted((a, b) => a.offset - b.offset);
  return { comment, directory: names.map(({ name }) => name), stored: stored.map(({ name }) => name) };
}

const COMMENT = '{"ome":{"version":"0.5"}}';

/** Holds that documents come first, those of the root before all others, each level before the next. */
function expectDocumentsFirst(names: readonly string[]): void {
  const documents = names.filter((name) => name.endsWith("zarr.json"));
  expect(documents[0]).toBe("zarr.json");
  expect(names.slice(0, documents.length)).toEqual(documents);
  const depths = documents.map((name) => name.split("/").length);
  expect(depths).toEqual(depths.toSorted((a, b) => a - b));
}

describe("an OME-Zarr file", () => {
  it.each<[string, (target: string) => Promise<unknown>]>([
    ["copied", (target) => copy(source, target)],
    ["copied with another codec", (target) => copy(source, target, { codec: "zstd" })],
    ["rechunked", (target) => rechunk(source, target, { chunks: { y: 2, x: 2 } })],
    ["sliced", (target) => sliceTo(source, target, { slice: { y: [0, 4], x: [0, 4] } })],
  ])("that is %s begins with its documents, and states its version", async (_, write) => {
    const target = join(folder, "image.ozx");
    await write(target);
    const { comment, directory, stored } = await layoutOf(await readFile(target));
    expect(comment).toBe(COMMENT);
    expectDocumentsFirst(directory);
    expectDocumentsFirst(stored);
    const store = await openZipFile(target);
    expect(new TextDecoder().decode(store.comment)).toBe(COMMENT);
    await store.close();
  });

  it("that is created has its documents first in its directory", async () => {
    const target = join(folder, "image.ozx");
    await image(target);
    const { comment, directory } = await layoutOf(await readFile(target));
    expect(comment).toBe(COMMENT);
    expectDocumentsFirst(directory);
  });

  it("is written so into a store, too, and stays so when it is mended", async () => {
    const store = new MemoryStore();
    await copy(source, zipInStore(store, "image.ozx"));
    expect((await layoutOf((await store.get("image.ozx")) ?? new Uint8Array(0))).comment).toBe(COMMENT);
    expect((await openZipValue(store, "image.ozx")).comment).toBeDefined();
    const target = join(folder, "twice.ozx");
    await copy(source, target);
    const stale = (await readFile(join(source, "zarr.json"), "utf8")).replace(
      "{",
      '{"consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{}},',
    );
    await writeFile(join(source, "zarr.json"), stale);
    await copy(source, target, { ifExists: "replace" });
    for await (const _ of validate(target, { fix: true }));
    const { comment, directory, stored } = await layoutOf(await readFile(target));
    expect(comment).toBe(COMMENT);
    expectDocumentsFirst(directory);
    expectDocumentsFirst(stored);
  });

  it("of a name that is another has no comment", async () => {
    const target = join(folder, "image.zarr.zip");
    await copy(source, target);
    expect((await layoutOf(await readFile(target))).comment).toBe("");
  });
});

describe("a copy from zip to zip", () => {
  it("keeps the comment, and the order of what is no document", async () => {
    const [from, to, other] = [join(folder, "from.ozx"), join(folder, "to.zip"), join(folder, "v2.zip")];
    await copy(source, from);
    const before = await layoutOf(await readFile(from));
    const store = await openZipFile(from);
    const reversed = before.stored.filter((name) => !name.endsWith("zarr.json")).reverse();
    // another writer, which puts chunks in another order
    const { ZipWriter } = await import("../../src/stores/zip.ts");
    const parts: Uint8Array[] = [];
    const sink = {
      write: async (bytes: Uint8Array) => void parts.push(bytes.slice()),
      close: async () => {},
      abort: async () => {},
    };
    const remark = new TextEncoder().encode("made by hand");
    const writer = new ZipWriter(sink, "zip", { comment: remark });
    const documents = before.stored.filter((name) => name.endsWith("zarr.json"));
    for (const name of [...documents, ...reversed])
      await writer.set(name, (await store.get(name)) ?? new Uint8Array(0));
    await writer.finish();
    await store.close();
    await writeFile(from.replace(".ozx", ".zip"), Buffer.concat(parts));
    await copy(from.replace(".ozx", ".zip"), to);
    const after = await layoutOf(await readFile(to));
    expect(after.comment).toBe("made by hand");
    expect(after.stored).toEqual([...documents, ...reversed]);
    await convert(from, other, { to: "v2" });
    expect((await layoutOf(await readFile(other))).comment).toBe("");
  });
});

it("a group of a zip whose entries are in no order is copied whole into a zip", async () => {
  const array = new TextEncoder().encode(
    JSON.stringify({
      ...{ zarr_format: 2, shape: [4], chunks: [1], dtype: "|u1", compressor: null },
      ...{ fill_value: 0, order: "C", filters: null },
    }),
  );
  const group = new TextEncoder().encode('{"zarr_format": 2}');
  const names = [
    "b/.zgroup",
    "b/c/3",
    "b/c/.zarray",
    "a/c/2",
    ".zgroup",
    "a/c/0",
    "b/c/0",
    "a/.zgroup",
    "a/c/.zarray",
    "a/c/1",
  ];
  const value = (name: string) =>
    name.endsWith(".zgroup") ? group : name.endsWith(".zarray") ? array : Uint8Array.of(7);
  const from = join(folder, "mixed.zarr.zip");
  await writeFile(from, buildZip(names.map((name) => ({ name, value: value(name) }))));
  await copy(`${from}/a`, join(folder, "part.zarr.zip"));
  const { stored } = await layoutOf(await readFile(join(folder, "part.zarr.zip")));
  expect(stored.toSorted()).toEqual([".zgroup", "c/.zarray", "c/0", "c/1", "c/2"]);
});
