// @module-tag slow
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  convert,
  copy,
  digest,
  rechunk,
  slice,
  sliceTo,
  type ValidateFinding,
  validate,
} from "../../src/index.ts";
import { openZipFile } from "../../src/stores/zip.ts";
import { serveValues } from "../stores/value-server.ts";
import { testFolder } from "../support/cli.ts";
import { drain } from "../support/consume.ts";
import { writeV2Group } from "../support/v2-store.ts";

/** A zip of a group: `t` is one shard of 16 chunks; beside it lies a document that is not Zarr's. */
async function archive(): Promise<{ readonly folder: string; readonly zip: string }> {
  const folder = await testFolder();
  const from = join(folder, "g.zarr");
  const t = { shape: [8, 8], chunks: [2, 2], dimensions: ["y", "x"] };
  await writeV2Group(from, { t });
  await writeFile(join(from, "README.txt"), "what this is");
  const zip = join(folder, "g.zarr.zip");
  await convert(from, zip, { to: "v3", shards: { y: 8, x: 8 }, codec: "none" });
  return { folder, zip };
}

/** The same with one bit flipped in the middle of an entry. */
async function damaged(key: string): Promise<{ readonly folder: string; readonly zip: string }> {
  const { folder, zip } = await archive();
  const store = await openZipFile(zip);
  const value = Buffer.from((await store.get(key)) ?? []);
  await store.close();
  const bytes = await readFile(zip);
  const at = bytes.indexOf(value) + (value.length >> 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(zip, bytes);
  return { folder, zip };
}

const SHARD = "t/c/0/0";

async function errorsOf(source: string): Promise<readonly ValidateFinding[]> {
  const found: ValidateFinding[] = [];
  for await (const finding of validate(source, { deep: true }))
    if (finding.level === "error") found.push(finding);
  return found;
}

const WRONG = { code: "corrupt-store", details: { key: SHARD } };

describe("a shard in a zip, in which one bit is wrong,", () => {
  it.each<[string, (zip: string, folder: string) => Promise<unknown>]>([
    ["is not recoded", (zip, folder) => copy(zip, join(folder, "x.zarr"), { codec: "zstd" })],
    ["is not rechunked", (zip, folder) => rechunk(zip, join(folder, "x.zarr"), { chunks: { y: 8, x: 1 } })],
    [
      "is not rechunked by tasks that read a part of it each",
      (zip, folder) =>
        rechunk(zip, join(folder, "x.zarr"), {
          chunks: { y: 8, x: 1 },
          maxMemory: "21kB",
          strategy: "direct",
        }),
    ],
    ["has no digest", (zip) => drain(digest(zip))],
    ["is no whole slice", (zip) => slice(`${zip}/t`).read()],
  ])("%s", async (_, run) => {
    const { zip, folder } = await damaged(SHARD);
    await expect(run(zip, folder)).rejects.toMatchObject(WRONG);
  });

  it("is found by `validate`, from a file and from a server", async () => {
    const { zip } = await damaged(SHARD);
    const found = [expect.objectContaining({ what: "broken-chunk", path: "t", key: SHARD })];
    expect(await errorsOf(zip)).toEqual(found);
    const server = await serveValues(new Map([["g.zarr.zip", await readFile(zip)]]));
    onTestFinished(() => server.close());
    expect(await errorsOf(`${server.url}/g.zarr.zip`)).toEqual(found);
    await expect(drain(digest(`${server.url}/g.zarr.zip`))).rejects.toMatchObject(WRONG);
  });

  it("is read in part all the same, and the report counts it", async () => {
    const { zip, folder } = await damaged(SHARD);
    expect(await slice(`${zip}/t`, [7, 7]).read()).toMatchObject({ data: new Float32Array([63]) });
    const report = await sliceTo(zip, join(folder, "x.zarr"), { slice: { y: [4, 8], x: [4, 8] } });
    expect(report.uncheckedEntries).toBe(1);
  });
});

it("a value that is no chunk, in which one bit is wrong, is found by `validate`", async () => {
  const { zip } = await damaged("README.txt");
  expect(await errorsOf(zip)).toEqual([expect.objectContaining({ what: "unreadable", key: "README.txt" })]);
});

it("a run that reads all of a zip reports that no entry is unchecked", async () => {
  const { zip, folder } = await archive();
  expect(await errorsOf(zip)).toEqual([]);
  const report = await copy(zip, join(folder, "x.zarr"), { codec: "zstd" });
  expect(report.uncheckedEntries).toBe(0);
  expect(await copy(join(folder, "x.zarr"), join(folder, "y.zarr"))).not.toHaveProperty("uncheckedEntries");
});
