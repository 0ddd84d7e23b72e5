// @module-tag slow
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CellGrid, cellShapeOf } from "../../src/flows/digest/cell-grid.ts";
import { type DigestTree, digestTree, mergeDigestTrees, rechunk } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

const float32 = { kind: "float", size: 4 } as const;
const cube: V2Array = { shape: [5, 500, 400], chunks: [5, 100, 50], items: ramp(1_000_000) };

async function group(arrays: Readonly<Record<string, V2Array>>): Promise<string> {
  const folder = join(await testFolder(), "g.zarr");
  await writeV2Group(folder, arrays);
  return folder;
}

const sha256 = (...parts: readonly (string | Uint8Array)[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const parts = (source: string, of: number, options = {}) =>
  Promise.all(
    Array.from({ length: of }, (_, i) => digestTree(source, { ...options, part: { number: i + 1, of } })),
  );

describe("cells", () => {
  it.each([
    [
      [5, 500, 400],
      [1, 500, 400],
    ],
    [
      [5, 700, 400],
      [1, 655, 400],
    ],
    [
      [90, 3],
      [90, 3],
    ],
    [
      [2, 1_000_000],
      [1, 262_144],
    ],
    [
      [0, 4],
      [1, 4],
    ],
    [[], []],
  ])("of %j are %j", (shape, cell) => {
    expect(cellShapeOf(shape, float32)).toEqual(cell);
  });

  it("are covered by the boxes of a run, each once and in order", () => {
    const grid = new CellGrid([3, 5, 7], [1, 2, 3]);
    for (let from = 0; from <= grid.count; from++) {
      for (let to = from; to <= grid.count; to++) {
        const items = (regions: Iterable<{ start: readonly number[]; shape: readonly number[] }>) =>
          [...regions].flatMap(({ start: [a = 0, b = 0, c = 0], shape: [k = 0, l = 0, m = 0] }) =>
            Array.from({ length: k * l * m }, (_, i) => [
              a + Math.floor(i / (l * m)),
              b + (Math.floor(i / m) % l),
              c + (i % m),
            ]),
          );
        const cells = Array.from({ length: to - from }, (_, i) => grid.regionOf(from + i));
        const text = (all: number[][]) =>
          all
            .map((one) => one.join())
            .sort()
            .join(" ");
        expect(text(items(grid.boxes(from, to)))).toBe(text(items(cells)));
      }
    }
    expect([...new CellGrid([], []).boxes(0, 1)]).toEqual([{ start: [], shape: [] }]);
  });
});

describe("a tree", () => {
  it("is what the page defines", async () => {
    const folder = join(await testFolder(), "a.zarr");
    await writeV2Array(folder, cube);
    const bytes = cube.items as Float32Array;
    const cells = [0, 1, 2, 3, 4].map((i) =>
      sha256(
        `zarr-tree-1 cell\n${i},0,0\n1,500,400\n7 float32\n`,
        new Uint8Array(bytes.buffer, bytes.byteOffset + i * 800_000, 800_000),
      ),
    );
    const root = sha256("zarr-tree-1 node\n", ...cells);
    const array = sha256("zarr-tree-1 array\n5,500,400\n1,500,400\n7 float32\n", root).toString("hex");
    expect(await digestTree(folder, { cells: true })).toEqual({
      algorithm: "zarr-tree-1",
      sha256: array,
      arrays: [
        {
          path: "",
          dataType: "float32",
          shape: [5, 500, 400],
          cellShape: [1, 500, 400],
          sha256: array,
          cells: [{ first: 0, sha256: cells.map((cell) => cell.toString("hex")) }],
        },
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
    expect(hashes(changed).map((hash, i) => hash === hashes(whole)[i])).toEqual([
      true,
      true,
      true,
      false,
      true,
    ]);
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
  it.each([1, 2, 3, 8])("of %d are merged to the whole, in any order and step by step", async (of) => {
    const folder = await group({ t: cube, u: { ...cube, shape: [7], chunks: [2], items: ramp(7) } });
    const whole = await digestTree(folder, { cells: true });
    const trees = await parts(folder, of);
    expect(
      trees.flatMap(({ arrays }) => arrays.flatMap(({ cells }) => cells ?? [])).flatMap((run) => run.sha256),
    ).toHaveLength(6);
    expect(await mergeDigestTrees(trees.toReversed())).toEqual(whole);
    const half = await mergeDigestTrees(trees.slice(0, Math.ceil(of / 2)));
    const json = JSON.parse(JSON.stringify([...trees.slice(1), half]));
    expect(await mergeDigestTrees(json)).toEqual(whole);
    if (of > 1) expect(half.sha256).toBeUndefined();
  });

  it("that do not fit are errors", async () => {
    const folder = await group({ t: cube });
    const [one, two] = await parts(folder, 2);
    const other = await group({ t: { ...cube, items: ramp(1_000_000).map((n) => n + 1) } });
    const small = await group({ t: { ...cube, shape: [7], chunks: [2], items: ramp(7) } });
    if (!one || !two) throw new Error("no parts");
    await expect(mergeDigestTrees([one, await digestTree(other, { cells: true })])).rejects.toMatchObject({
      code: "differs",
      details: { path: "t" },
    });
    await expect(mergeDigestTrees([one, await digestTree(small)])).rejects.toMatchObject({
      code: "invalid-option",
    });
    const bad: unknown[] = [{}, null, { ...one, algorithm: "other" }, { ...one, arrays: [{ path: "t" }] }];
    const [array] = one.arrays;
    const cells = [
      [{ first: -1, sha256: [] }],
      [{ first: 0, sha256: ["00"] }],
      [{ first: 9, sha256: ["0".repeat(64)] }],
    ];
    for (const of of cells) bad.push({ ...one, arrays: [{ ...array, cells: of }] });
    for (const tree of bad)
      await expect(mergeDigestTrees([tree as DigestTree])).rejects.toMatchObject({ code: "invalid-option" });
    await expect(digestTree(folder, { part: { number: 3, of: 2 } })).rejects.toMatchObject({
      code: "invalid-option",
    });
  });
});

describe("a group of which an array cannot be read", () => {
  it("has no root, and is not taken for one that lacks the array", async () => {
    const small: V2Array = { shape: [4], chunks: [2] };
    const folder = await group({ a: small, b: small });
    const document = join(folder, "b/.zarray");
    const metadata = JSON.parse(await readFile(document, "utf8"));
    await writeFile(document, JSON.stringify({ ...metadata, compressor: { id: "unheard-of" } }));
    await expect(digestTree(folder)).rejects.toMatchObject({ details: { path: "b" } });
    await writeFile(document, JSON.stringify({ ...metadata, dtype: "<q9" }));
    await expect(digestTree(folder)).rejects.toMatchObject({ details: { path: "b" } });
    await rm(join(folder, "b"), { recursive: true });
    expect((await digestTree(folder)).sha256).toMatch(/^[0-9a-f]{64}$/);
  });
});
