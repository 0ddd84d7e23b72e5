// @module-tag slow
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { convert, copy, rechunk } from "../../src/index.ts";
import { consolidate } from "../../src/meta/consolidated.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { testFolder } from "../support/cli.ts";
import { digestsOf } from "../support/consume.ts";
import { writeV2Group } from "../support/v2-store.ts";

let folder: string;
let source: string;
let target: string;

/** A group `sub` with an array `t`, in a group; both groups have consolidated metadata. */
beforeEach(async () => {
  folder = await testFolder();
  [source, target] = [join(folder, "source.zarr"), join(folder, "target.zarr")];
  await writeV2Group(source, {});
  await writeV2Group(join(source, "sub"), { t: { shape: [8, 6], chunks: [2, 6], dimensions: ["y", "x"] } });
  for (const path of ["sub", ""]) {
    const key = join(path, ".zmetadata");
    await writeFile(join(source, key), consolidate("v2", path, await documentsIn(source)).get(key) ?? "");
  }
});

async function documentsIn(root: string): Promise<Map<string, Uint8Array>> {
  const names = await readdir(root, { recursive: true });
  const keys = names.filter((name) => /(^|\/)\.z(array|group|attrs)$/.test(name)).sort();
  return new Map(await Promise.all(keys.map(async (key) => [key, await readFile(join(root, key))] as const)));
}

const chunks = { y: 8, x: 3 };
const filesIn = async (root: string) => (await readdir(root, { recursive: true })).sort();
const document = (key: string) => jsonAt(new DirectoryStore(target), key);

it("consolidated metadata of groups below the root are made anew when an array is rechunked", async () => {
  await rechunk(source, target, { chunks });
  expect((await document(".zmetadata")).metadata["sub/t/.zarray"].chunks).toEqual([8, 3]);
  expect((await document("sub/.zmetadata")).metadata["t/.zarray"].chunks).toEqual([8, 3]);
  await convert(source, join(folder, "v3.zarr"), { to: "v3" });
  await rechunk(join(folder, "v3.zarr"), target, { chunks, ifExists: "replace" });
  const t = { chunk_grid: { configuration: { chunk_shape: [8, 3] } } };
  expect((await document("zarr.json")).consolidated_metadata.metadata["sub/t"]).toMatchObject(t);
  expect((await document("sub/zarr.json")).consolidated_metadata.metadata.t).toMatchObject(t);
});

describe("a source that only consolidated metadata describe", () => {
  let whole: Record<string, string>;
  beforeEach(async () => {
    whole = await digestsOf(source);
    for (const key of (await documentsIn(source)).keys()) await rm(join(source, key));
    await rm(join(source, "sub/.zmetadata"));
  });

  it("is copied byte for byte", async () => {
    await copy(source, target);
    expect(await filesIn(target)).toEqual(await filesIn(source));
    expect(await digestsOf(target)).toEqual(whole);
  });

  it("is rechunked, and keeps its values", async () => {
    await rechunk(source, target, { chunks });
    expect(await digestsOf(target)).toEqual(whole);
    expect(await document("sub/t/.zarray")).toMatchObject({ chunks: [8, 3] });
  });

  it("gives its groups and arrays, each with documents", async () => {
    await copy(join(source, "sub"), target);
    expect(await digestsOf(target)).toEqual({ t: whole["sub/t"] });
    await copy(join(source, "sub/t"), join(folder, "t.zarr"));
    expect(await digestsOf(join(folder, "t.zarr"))).toEqual({ "": whole["sub/t"] });
  });
});

it("a group without arrays leaves the documents of its old format behind", async () => {
  const empty = join(folder, "empty.zarr");
  await cp(source, empty, { recursive: true });
  await rm(join(empty, "sub"), { recursive: true });
  await convert(empty, target, { to: "v3" });
  expect(await filesIn(target)).toEqual(["zarr.json"]);
});

it("a stray file is never taken for a chunk of the new format", async () => {
  const [v2, v3] = [join(folder, "v2"), join(folder, "v3")];
  await writeV2Group(v2, { t: { shape: [4], chunks: [2] } });
  await convert(v2, v3, { to: "v3" });
  await writeFile(join(v3, "t/0"), "stray");
  await rm(join(v3, "t/c/0"));
  await convert(v3, target, { to: "v2" });
  expect(await filesIn(join(target, "t"))).toEqual([".zarray", "1"]);
});
