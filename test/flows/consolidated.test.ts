// @module-tag slow
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { convert, copy, rechunk } from "../../src/flows/copy.ts";
import { digest } from "../../src/flows/digest.ts";
import { consolidate } from "../../src/meta/consolidated.ts";
import { testFolder } from "../support/cli.ts";
import { all } from "../support/consume.ts";
import { writeV2Group } from "../support/v2-store.ts";

let folder: string;
let source: string;
let target: string;

/** A group `sub` with an array `t`, in a group; both groups have consolidated metadata. */
beforeEach(async () => {
  folder = await testFolder();
  source = join(folder, "source.zarr");
  target = join(folder, "target.zarr");
  const t = { shape: [8, 6], chunks: [2, 6], dimensions: ["y", "x"] };
  await writeV2Group(source, {});
  await writeV2Group(join(source, "sub"), { t });
  await consolidateFiles(source, "sub");
  await consolidateFiles(source, "");
});

async function documentsIn(root: string): Promise<Map<string, Uint8Array>> {
  const names = await readdir(root, { recursive: true });
  const keys = names.filter((name) => /(^|\/)\.z(array|group|attrs)$/.test(name)).sort();
  return new Map(await Promise.all(keys.map(async (key) => [key, await readFile(join(root, key))] as const)));
}

async function consolidateFiles(root: string, path: string): Promise<void> {
  const key = join(path, ".zmetadata");
  await writeFile(join(root, key), consolidate("v2", path, await documentsIn(root)).get(key) ?? "");
}

async function removeDocuments(root: string): Promise<void> {
  for (const key of (await documentsIn(root)).keys()) await rm(join(root, key));
}

const digestOf = async (url: string) =>
  (await all(digest(url))).map(({ path, sha256 }) => `${path} ${sha256}`);

async function chunksOf(document: string, ...names: string[]): Promise<unknown> {
  const json = JSON.parse(await readFile(join(target, document), "utf8"));
  return names.reduce((value, name) => value[name], json);
}

describe("consolidated metadata of groups below the root", () => {
  it("are made anew when an array is rechunked", async () => {
    await rechunk(source, target, { chunks: { y: 8, x: 3 } });
    expect(await chunksOf(".zmetadata", "metadata", "sub/t/.zarray", "chunks")).toEqual([8, 3]);
    expect(await chunksOf("sub/.zmetadata", "metadata", "t/.zarray", "chunks")).toEqual([8, 3]);
  });

  it("follow to another format", async () => {
    await convert(source, target, { to: "v3" });
    const again = join(folder, "again.zarr");
    await rechunk(target, again, { chunks: { y: 8, x: 3 } });
    target = again;
    const grid = ["chunk_grid", "configuration", "chunk_shape"];
    const inline = ["consolidated_metadata", "metadata"];
    expect(await chunksOf("zarr.json", ...inline, "sub/t", ...grid)).toEqual([8, 3]);
    expect(await chunksOf("sub/zarr.json", ...inline, "t", ...grid)).toEqual([8, 3]);
  });
});

describe("a source that only consolidated metadata describe", () => {
  let whole: string[];
  beforeEach(async () => {
    whole = await digestOf(source);
    await removeDocuments(source);
    await rm(join(source, "sub/.zmetadata"));
  });

  it("is copied byte for byte", async () => {
    const before = await readdir(source, { recursive: true });
    await copy(source, target);
    expect((await readdir(target, { recursive: true })).sort()).toEqual(before.sort());
    expect(await digestOf(target)).toEqual(whole);
  });

  it("is rechunked, and keeps its values", async () => {
    await rechunk(source, target, { chunks: { y: 8, x: 3 } });
    expect(await digestOf(target)).toEqual(whole);
    expect(await chunksOf("sub/t/.zarray", "chunks")).toEqual([8, 3]);
  });

  it("gives its groups and arrays, each with documents", async () => {
    await copy(join(source, "sub"), target);
    expect(await digestOf(target)).toEqual(whole.map((line) => line.replace("sub/", "")));
    await copy(join(source, "sub/t"), join(folder, "t.zarr"));
    expect(await digestOf(join(folder, "t.zarr"))).toEqual(whole.map((line) => line.replace("sub/t", "")));
  });
});

it("a group without arrays leaves the documents of its old format behind", async () => {
  const empty = join(folder, "empty.zarr");
  await cp(source, empty, { recursive: true });
  await rm(join(empty, "sub"), { recursive: true });
  await convert(empty, target, { to: "v3" });
  expect(await readdir(target)).toEqual(["zarr.json"]);
});

it("a stray file is never taken for a chunk of the new format", async () => {
  await writeV2Group(join(folder, "v2"), { t: { shape: [4], chunks: [2] } });
  await convert(join(folder, "v2"), join(folder, "v3"), { to: "v3" });
  await writeFile(join(folder, "v3/t/0"), "stray");
  await rm(join(folder, "v3/t/c/0"));
  await convert(join(folder, "v3"), target, { to: "v2" });
  expect((await readdir(join(target, "t"))).sort()).toEqual([".zarray", "1"]);
});
