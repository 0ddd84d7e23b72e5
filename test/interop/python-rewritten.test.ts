import { join, relative } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { equal } from "./compare.ts";
import { NEWER_THAN_PYTHON, WRITE_EXCEPTIONS } from "./exceptions.ts";
import { hasPython, readByZarrPython, runPython } from "./python.ts";
import { type GoodArray, goodArrays, rewriteArray } from "./rewritten.ts";
import { hasShared, shared } from "./shared.ts";
import { asJson } from "./tally.ts";

/** What a reader found in an array: its digest or its values, or neither. */
interface Found {
  readonly path: string;
  readonly zarr_format?: number;
  readonly sha256?: string;
  readonly values?: readonly unknown[];
}

const versions = [2, 3] as const;
const of = (version: number) =>
  goodArrays.filter(
    ({ id, zarr_format }) =>
      String(zarr_format) === `${version}` && !WRITE_EXCEPTIONS.some((one) => one.id.test(id)),
  );

describe.runIf(hasPython && hasShared)("arrays of both corpora, written anew", () => {
  const folder = temporaryFolder();
  const storeOf = (version: number | string) => join(folder.path, `v${version}.zarr`);

  beforeAll(async () => {
    for (const one of versions.flatMap(of)) {
      const source = await one.open();
      if (source.kind === "array")
        await rewriteArray(source, new DirectoryStore(storeOf(one.zarr_format)), one.name);
    }
  }, 300_000);

  const counts: Record<string, { originals: number; rewritten: number; all: number }> = {};

  test.each(versions)(
    "zarr-python reads what it reads of the originals, and more, v%d",
    async (version) => {
      const originals = new Map<string, Found>();
      for (const corpus of ["corpus/data", "corpus-legacy/ogc-v2", "corpus-legacy/zep0007"]) {
        const root = `${shared}${corpus}`;
        for (const found of (await readByZarrPython(root, version)).arrays)
          originals.set(join(root, found.path), found);
      }
      const anew = new Map(
        (await readByZarrPython(storeOf(version), version)).arrays.map((found) => [found.path, found]),
      );
      counts[`zarr-python, v${version}`] = hold(
        of(version),
        ({ folder: store, path }) => originals.get(join(store, path)),
        ({ name }) => anew.get(name),
      );
    },
    300_000,
  );

  test.each(versions)(
    "tensorstore reads what it reads of the originals, and more, v%d",
    async (version) => {
      const inFolders = of(version).filter(({ isZip }) => !isZip);
      const pathOf = ({ folder: store, path }: GoodArray) => relative(shared, join(store, path));
      const originals = await byTensorstore(shared.replace(/\/$/, ""), inFolders.map(pathOf));
      const anew = await byTensorstore(
        storeOf(version),
        of(version).map(({ name }) => name),
      );
      counts[`tensorstore, v${version}`] = hold(
        of(version),
        (one) => originals.get(pathOf(one)),
        ({ name }) => anew.get(name),
      );
    },
    300_000,
  );

  test("the counts are those of docs/formats.md", async () => {
    console.log(counts);
    await expect(asJson(counts)).toMatchFileSnapshot("approved/read-by-python.json");
  });
});

/** Holds that no array is read otherwise than its original, and counts those that are read right. */
function hold(
  arrays: readonly GoodArray[],
  original: (one: GoodArray) => Found | undefined,
  anew: (one: GoodArray) => Found | undefined,
) {
  const isRight = (one: GoodArray, found: Found | undefined) =>
    one.sha256 === undefined ? equal(found?.values, one.values) : found?.sha256 === one.sha256;
  const before = arrays.filter((one) => isRight(one, original(one)));
  const after = arrays.filter((one) => isRight(one, anew(one)));
  const lost = before.filter((one) => !after.includes(one) && !NEWER_THAN_PYTHON.test(one.id));
  expect(lost.map((one) => ({ id: one.id, found: anew(one) }))).toEqual([]);
  return { originals: before.length, rewritten: after.length, all: arrays.length };
}

async function byTensorstore(store: string, paths: readonly string[]): Promise<Map<string, Found>> {
  const digests = (await runPython("hash_tensorstore.py", store, ...paths)) as Record<string, string>;
  return new Map(Object.entries(digests).map(([path, sha256]) => [path, { path, sha256 }]));
}
