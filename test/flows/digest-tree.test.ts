// @module-tag slow
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { CellGrid, cellShapeOf } from "../../src/flows/digest/tree-hash.ts";
import { type DigestTree, digestTree, mergeDigestTrees, rechunk } from "../../src/index.ts";
import { coordsOf } from "../../src/util/shape.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

const cube: V2Array = { shape: [5, 500, 400], chunks: [5, 100, 50], items: ramp(1_000_000) };

const places = temporaryFolder();

async function group(arrays: Readonly<Record<string, V2Array>>): Promise<string> {
  const folder = places.next("g.zarr");
  await writeV2Group(folder, arrays);
  return folder;
}

const sha256 = (...parts: readonly (string | Uint8Array)[]) =>
  createHash("sha256")
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest();

const parts = (source: string, of: number, options = {}) =>
  Promise.all(
    Array.from({ length: of }, (_, i) => digestTree(source, { ...options, part: { number: i + 1, of } })),
  );

describe("cells", () => {
  it.each([
    ["5,500,400", "1,500,400"],
    ["5,700,400", "1,655,400"],
    ["90,3", "90,3"],
    ["2,1000000", "1,262144"],
    ["0,4", "1,4"],
    ["", ""],
  ])("of %s are %s", (shape, cell) => {
    const lengths = shape.split(",").filter(Boolean).map(Number);
    expect(cellShapeOf(lengths, { kind: "float", size: 4 }).join()).toBe(cell);
  });

  it("are covered by the boxes of a run, each once and in order", () => {
    const grid = new CellGrid([3, 5, 7], [1, 2, 3]);
    type Box = { readonly start: readonly number[]; readonly shape: readonly number[] };
    const items = (boxes: Iterable<Box>) =>
      [...boxes].flatMap(({ start, shape }) =>
        [...coordsOf(shape)].map((coords) => coords.map((n, d) => n + (start[d] ?? 0)).join()),
      );
    for (let from = 0; from <= grid.count; from++) {
      for (let to = from; to <= grid.count; to++) {
        const cells = Array.from({ length: to - from }, (_, i) => grid.regionOf(from + i));
        expect(items(grid.boxes(from, to)).sort()).toEqual(items(cells).sort());
      }
    }
    expect([...new CellGrid([], []).boxes(0, 1)]).toEqual([{ start: [], shape: [] }]);
  });
});

describe("a tree", () => {
  it("is what the page defines", async () => {
    const folder = places.next("a.zarr");
    await writeV2Array(folder, cube);
    const bytes = new Uint8Array((cube.items as Float32Array).buffer);
    const cells = [0, 1, 2, 3, 4].map((i) => {
      const head = `zarr-tree-1 cell\n${i},0,0\n1,500,400\n7 float32\n`;
      return sha256(head, bytes.subarray(i * 800_000, (i + 1) * 800_000));
    });
    const node = sha256("zarr-tree-1 node\n", ...cells);
    const root = sha256("zarr-tree-1 array\n5,500,400\n1,500,400\n7 float32\n", node).toString("hex");
    const array = { path: "", dataType: "float32", shape: [5, 500, 400], cellShape: [1, 500, 400] };
    expect(await digestTree(folder, { cells: true })).toEqual({
      ...{ algorithm: "zarr-tree-1", sha256: root },
      arrays: [
        { ...array, sha256: root, cells: [{ first: 0, sha256: cells.map((one) => one.toString("hex")) }] },
      ],
    });
  });

  it("does not depend on chunks, codecs, the budget or the threads, and changes in one cell with one item", async () => {
    const folder = await group({ t: cube });
    const other = join(folder, "../other.zarr");
    await rechunk(folder, other, { chunks: "t:1,500,7", codec: "gzip:1" });
    const whole = await digestTree(folder, { cells: true });
    expect(await digestTree(other, { cells: true, maxMemory: "2MB", threads: 1 })).toEqual(whole);
    const key = join(folder, "t/0.2.3");
    const chunk = await readFile(key);
    const at = 4 * (3 * 100 * 50);
    chunk[at] = (chunk[at] ?? 0) ^ 1;
    await writeFile(key, chunk);
    const changed = await digestTree(folder, { cells: true });
    const hashes = ({ arrays: [array] }: DigestTree) => array?.cells?.[0]?.sha256 ?? [];
    const same = hashes(changed).map((hash, i) => hash === hashes(whole)[i]);
    expect(same).toEqual([true, true, true, false, true]);
    expect(changed.sha256).not.toBe(whole.sha256);
  });

  it("reads missing chunks as the fill value", async () => {
    const items = new Float32Array(24).fill(7);
    const folder = await group({ t: { ...cube, shape: [24], chunks: [6], items, fillValue: 7 } });
    const whole = await digestTree(folder);
    await rm(join(folder, "t/2"));
    expect(await digestTree(folder)).toEqual(whole);
  });
});

describe("parts", () => {
  let folder: string;
  let whole: DigestTree;
  beforeAll(async () => {
    folder = await group({ t: cube, u: { ...cube, shape: [7], chunks: [2], items: ramp(7) } });
    whole = await digestTree(folder, { cells: true });
  });

  it.each([1, 2, 3, 8])("of %d are merged to the whole, in any order and step by step", async (of) => {
    const trees = await parts(folder, of);
    const runs = trees.flatMap(({ arrays }) => arrays.flatMap(({ cells }) => cells ?? []));
    expect(runs.flatMap(({ sha256 }) => sha256)).toHaveLength(6);
    expect(await mergeDigestTrees(trees.toReversed())).toEqual(whole);
    const half = await mergeDigestTrees(trees.slice(0, Math.ceil(of / 2)));
    const json = JSON.parse(JSON.stringify([...trees.slice(1), half]));
    expect(await mergeDigestTrees(json)).toEqual(whole);
    if (of > 1) expect(half.sha256).toBeUndefined();
  });

  it("that do not fit are errors", async () => {
    const [one] = await parts(folder, 2);
    if (!one) throw new Error("no parts");
    const other = await group({ t: { ...cube, items: ramp(1_000_000).map((n) => n + 1) } });
    const merged = mergeDigestTrees([one, await digestTree(other, { cells: true })]);
    await expect(merged).rejects.toMatchObject({ code: "differs", details: { path: "t" } });
    const wrong = { code: "invalid-option" };
    const small = await digestTree(await group({ t: { ...cube, shape: [7], chunks: [2], items: ramp(7) } }));
    await expect(mergeDigestTrees([one, small])).rejects.toMatchObject(wrong);
    const bad: unknown[] = [{}, null, { ...one, algorithm: "other" }, { ...one, arrays: [{ path: "t" }] }];
    for (const cell of [
      { first: -1, sha256: [] },
      { first: 0, sha256: ["00"] },
      { first: 9, sha256: ["0".repeat(64)] },
    ])
      bad.push({ ...one, arrays: [{ ...one.arrays[0], cells: [cell] }] });
    for (const tree of bad) await expect(mergeDigestTrees([tree as DigestTree])).rejects.toMatchObject(wrong);
    await expect(digestTree(folder, { part: { number: 3, of: 2 } })).rejects.toMatchObject(wrong);
  });
});

it("a group of which an array cannot be read has no root, and is not taken for one that lacks the array", async () => {
  const small: V2Array = { shape: [4], chunks: [2] };
  const folder = await group({ a: small, b: small });
  const document = join(folder, "b/.zarray");
  const metadata = JSON.parse(await readFile(document, "utf8"));
  for (const unknown of [{ compressor: { id: "unheard-of" } }, { dtype: "<q9" }]) {
    await writeFile(document, JSON.stringify({ ...metadata, ...unknown }));
    await expect(digestTree(folder)).rejects.toMatchObject({ details: { path: "b" } });
  }
  await rm(join(folder, "b"), { recursive: true });
  expect((await digestTree(folder)).sha256).toMatch(/^[0-9a-f]{64}$/);
});
