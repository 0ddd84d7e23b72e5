// @module-tag slow
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { equal } from "./compare.ts";
import { hasPython, runPython } from "./python.ts";
import type { GoodArray } from "./rewritten.ts";
import { type ServedArray, type ServedCorpora, serveCorpora } from "./served-corpus.ts";
import { hasShared, shared } from "./shared.ts";
import { asJson } from "./tally.ts";

interface Found {
  readonly sha256?: string;
  readonly values?: readonly unknown[];
  readonly error?: string;
}

interface Read {
  readonly path: string;
  readonly zarr: Found;
  readonly tensorstore: Found;
  readonly original?: Found;
}

const isRight = (one: GoodArray, found: Found | undefined) =>
  one.sha256 === undefined ? equal(found?.values, one.values) : found?.sha256 === one.sha256;
const isRead = (found: Found | undefined) => found?.sha256 !== undefined || found?.values !== undefined;

describe.runIf(hasPython && hasShared)("both corpora over HTTP, as they are and in v3", () => {
  let served: ServedCorpora;
  let folder: string;
  const reads = new Map<string, Read>();
  const counts: Record<string, unknown> = {};

  beforeAll(async () => {
    served = await serveCorpora();
    folder = await mkdtemp(join(tmpdir(), "zarrflow-served-"));
    const jobs = [
      ...served.asIs.map(({ one, path, format }) => ({
        path,
        format,
        original: one.folder,
        original_path: one.path,
        original_format: format,
      })),
      ...served.asV3.map(({ path, format }) => ({ path, format })),
    ];
    await writeFile(join(folder, "jobs.json"), JSON.stringify(jobs));
    const script = join(shared, "corpus/verify_written.py");
    const all = (await runPython("read_served.py", script, served.url, join(folder, "jobs.json"))) as Read[];
    for (const read of all) reads.set(read.path, read);
  }, 1_200_000);
  afterAll(async () => {
    await served?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("zarr-python reads of each array what it reads of the file", () => {
    const lost = served.asIs.filter(({ one, path }) => {
      const read = reads.get(path);
      return isRight(one, read?.original) && !isRight(one, read?.zarr);
    });
    expect(lost.map(({ path }) => reads.get(path))).toEqual([]);
    counts["zarr-python, as they are"] = countOf(served.asIs, ({ zarr }) => zarr);
  });

  test("nothing that zarr-python reads in v3 is wrong", () => {
    expect(wrongOf(served.asV3, ({ zarr }) => zarr)).toEqual([]);
    counts["zarr-python, in v3"] = countOf(served.asV3, ({ zarr }) => zarr);
  });

  test.each(["asIs", "asV3"] as const)("nothing that tensorstore reads is wrong: %s", (way) => {
    const arrays = served[way].filter(({ one }) => one.sha256 !== undefined);
    expect(wrongOf(arrays, ({ tensorstore }) => tensorstore)).toEqual([]);
    counts[`tensorstore, ${way}`] = countOf(arrays, ({ tensorstore }) => tensorstore);
  });

  test("the server has failed nobody", () => {
    expect(served.failures).toEqual([]);
    counts["not in v3"] = Object.fromEntries(
      [...new Set(served.notInV3.values())].map((code) => [
        code,
        [...served.notInV3.values()].filter((other) => other === code).length,
      ]),
    );
  });

  test("the counts are the approved ones", async () => {
    await expect(asJson(counts)).toMatchFileSnapshot("approved/read-served.json");
  });

  function wrongOf(arrays: readonly ServedArray[], of: (read: Read) => Found) {
    return arrays.flatMap(({ one, path }) => {
      const read = reads.get(path);
      const found = read && of(read);
      return isRead(found) && !isRight(one, found) ? [{ id: one.id, found }] : [];
    });
  }

  function countOf(arrays: readonly ServedArray[], of: (read: Read) => Found) {
    const right = arrays.filter(({ one, path }) => {
      const read = reads.get(path);
      return read !== undefined && isRight(one, of(read));
    });
    return { right: right.length, all: arrays.length };
  }
});
