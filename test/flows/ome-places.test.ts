// @module-tag slow
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { convert, copy, diff, digest, info, rechunk, sliceTo, tree, validate } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { openZipFile, openZipValue, ZipWriter, zipInStore } from "../../src/stores/zip.ts";
import { serveValues } from "../stores/value-server.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { testFolder } from "../support/cli.ts";
import { all, contentsOf, drain, valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { heard } from "../support/heard.ts";
import { imageAttributes, imageNodes, makeImage } from "../support/ome-images.ts";

/** The URL of what is in a store, on a server that lists nothing. */
async function serve(store: MemoryStore): Promise<string> {
  const server = await serveValues(await valuesIn(store, "image.zarr"));
  onTestFinished(() => server.close());
  return `${server.url}/image.zarr`;
}

describe.each(["v2", "v3"] as const)(
  "an image of Zarr %s at a URL of a server that lists nothing",
  (zarrFormat) => {
    const shapes = [
      [2, 12, 14],
      [2, 6, 7],
    ];

    it("is shown as a tree, described, digested, copied, converted and cut", async () => {
      const store = await makeImage({ zarrFormat, axes: ["c", "y", "x"], shapes, labels: ["cells"] });
      const url = await serve(store);
      const paths = (await all(tree(url))).map(({ path }) => path);
      expect(paths).toEqual(["", "0", "1", "labels", "labels/cells", "labels/cells/0", "labels/cells/1"]);
      const arrays = (await all(info(url))).map(({ path }) => path);
      expect(arrays).toEqual(["0", "1", "labels/cells/0", "labels/cells/1"]);
      expect(await all(digest(url))).toEqual(await all(digest(store)));
      const [copied, there, here] = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
      await copy(url, copied);
      expect(await contentsOf(copied)).toEqual(await contentsOf(store));
      const to = zarrFormat === "v2" ? "v3" : "v2";
      await convert(url, there, { to });
      await convert(store, here, { to });
      expect(await contentsOf(there)).toEqual(await contentsOf(here));
      const [cut, cutHere] = [new MemoryStore(), new MemoryStore()];
      await sliceTo(`${url}/labels/cells/0`, cut, { slice: [[2, 6]] });
      await sliceTo({ store, path: "labels/cells/0" }, cutHere, { slice: [[2, 6]] });
      expect(await all(diff(cut, cutHere))).toEqual([]);
    });
  },
);

it("a copy of a collection from such a URL says that files beside its nodes are not found", async () => {
  const groups = { OME: { attributes: { series: [] } } };
  const store = await given({ zarrFormat: "v2", attributes: { "bioformats2raw.layout": 3 }, groups });
  await store.set("OME/METADATA.ome.xml", new TextEncoder().encode("<OME/>"));
  const { messages, onEvent } = heard();
  await copy(store, new MemoryStore(), { onEvent });
  expect(messages).toEqual([]);
  await copy(await serve(store), new MemoryStore(), { onEvent });
  expect(messages).toEqual([expect.stringContaining("METADATA.ome.xml")]);
});

/** An image in a folder, with labels two levels below. */
const image = (at: string) => {
  const shapes = [8, 4].map((size) => [size, size]);
  const recipe = { zarrFormat: "v3", axes: ["y", "x"], shapes, labels: ["cells"] } as const;
  return given({ at, zarrFormat: "v3", attributes: imageAttributes(recipe), ...imageNodes(recipe) });
};

let folder = "";
let source = "";
beforeEach(async () => {
  folder = await testFolder();
  source = join(folder, "image.zarr");
});

/** Names in the directory of an archive, in its order and in that of its entries, and its comment. */
async function layoutOf(file: string | Uint8Array | undefined) {
  const buffer = typeof file === "string" ? await readFile(file) : Buffer.from(file ?? []);
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

/** Holds that documents come first, those of the root before all others, each level before the next. */
function expectDocumentsFirst(names: readonly string[]): void {
  const documents = names.filter((name) => name.endsWith("zarr.json"));
  expect(documents[0]).toBe("zarr.json");
  expect(names.slice(0, documents.length)).toEqual(documents);
  const depths = documents.map((name) => name.split("/").length);
  expect(depths).toEqual(depths.toSorted((a, b) => a - b));
}

describe("an OME-Zarr file", () => {
  beforeEach(async () => {
    await image(source);
    await writeFile(join(source, "a.txt"), "no Zarr");
  });
  const COMMENT = '{"ome":{"version":"0.5"}}';

  async function mended(target: string): Promise<void> {
    await copy(source, target);
    const document = await readFile(join(source, "zarr.json"), "utf8");
    const inline = '"consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{}}';
    await writeFile(join(source, "zarr.json"), document.replace("{", `{${inline},`));
    await copy(source, target, { ifExists: "replace" });
    await drain(validate(target, { fix: true }));
  }

  it.each<[string, (target: string) => Promise<unknown>]>([
    ["copied", (target) => copy(source, target)],
    ["copied with another codec", (target) => copy(source, target, { codec: "zstd" })],
    ["rechunked", (target) => rechunk(source, target, { chunks: { y: 2, x: 2 } })],
    ["sliced", (target) => sliceTo(source, target, { slice: { y: [0, 4], x: [0, 4] } })],
    ["mended", mended],
    ["created", image],
  ])("that is %s begins with its documents, and states its version", async (how, write) => {
    const target = join(folder, "image.ozx");
    await write(target);
    const { comment, directory, stored } = await layoutOf(target);
    expect(comment).toBe(COMMENT);
    expectDocumentsFirst(directory);
    if (how !== "created") expectDocumentsFirst(stored);
    const store = await openZipFile(target);
    expect(new TextDecoder().decode(store.comment)).toBe(COMMENT);
    await store.close();
  });

  it("is written so into a store, too; one of another name has no comment", async () => {
    const store = new MemoryStore();
    await copy(source, zipInStore(store, "image.ozx"));
    expect((await layoutOf(await store.get("image.ozx"))).comment).toBe(COMMENT);
    expect((await openZipValue(store, "image.ozx")).comment).toBeDefined();
    const target = join(folder, "image.zarr.zip");
    await copy(source, target);
    expect((await layoutOf(target)).comment).toBe("");
  });

  it("copied from zip to zip keeps its comment, and the order of what is no document", async () => {
    const [from, byHand, to, v2] = ["from.ozx", "from.zip", "to.zip", "v2.zip"].map((name) =>
      join(folder, name),
    ) as [string, string, string, string];
    await copy(source, from);
    const { stored } = await layoutOf(from);
    const documents = stored.filter((name) => name.endsWith("zarr.json"));
    // another writer, which puts chunks in another order
    const names = [...documents, ...stored.filter((name) => !name.endsWith("zarr.json")).reverse()];
    const parts: Uint8Array[] = [];
    const write = async (bytes: Uint8Array) => void parts.push(bytes.slice());
    const sink = { write, close: async () => {}, abort: async () => {} };
    const writer = new ZipWriter(sink, "zip", { comment: new TextEncoder().encode("made by hand") });
    const store = await openZipFile(from);
    for (const name of names) await writer.set(name, (await store.get(name)) ?? new Uint8Array(0));
    await writer.finish();
    await store.close();
    await writeFile(byHand, Buffer.concat(parts));
    await copy(byHand, to);
    expect(await layoutOf(to)).toMatchObject({ comment: "made by hand", stored: names });
    await convert(from, v2, { to: "v2" });
    expect((await layoutOf(v2)).comment).toBe("");
  });
});

it("a group of a zip whose entries are in no order is copied whole into a zip", async () => {
  const made = await given({
    ...{ zarrFormat: "v2", groups: { a: {}, b: {} } },
    arrays: {
      "a/c": { shape: [3], chunks: [1], dataType: "uint8" },
      "b/c": { shape: [2], dataType: "uint8" },
    },
  });
  const values = await valuesIn(made);
  const [from, part] = [join(folder, "mixed.zarr.zip"), join(folder, "part.zarr.zip")];
  const order = ["b/.zgroup", "b/c/0", "b/c/.zarray", "a/c/2", ".zgroup", "a/c/0"];
  const names = [...order, "a/.zgroup", "a/c/.zarray", "a/c/1"];
  const entries = names.map((name) => ({ name, value: values.get(name) ?? new Uint8Array() }));
  await writeFile(from, buildZip(entries));
  await copy(`${from}/a`, part);
  expect((await layoutOf(part)).stored.toSorted()).toEqual([".zgroup", "c/.zarray", "c/0", "c/1", "c/2"]);
});
