// @module-tag slow
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { convert, copy, digest, rechunk, slice, sliceTo, validate } from "../../src/index.ts";
import { openZipFile } from "../../src/stores/zip.ts";
import { serveValues } from "../stores/value-server.ts";
import { testFolder } from "../support/cli.ts";
import { all, drain } from "../support/consume.ts";
import { writeV2Group } from "../support/v2-store.ts";

const SHARD = "t/c/0/0";

interface Archive {
  readonly zip: string;
  /** A path beside it. */
  readonly to: string;
}

/** A zip of a group: `t` is one shard of 16 chunks; beside it lies a document that is not Zarr's. */
async function archive(): Promise<Archive> {
  const folder = await testFolder();
  const [from, zip] = [join(folder, "g.zarr"), join(folder, "g.zarr.zip")];
  await writeV2Group(from, { t: { shape: [8, 8], chunks: [2, 2], dimensions: ["y", "x"] } });
  await writeFile(join(from, "README.txt"), "what this is");
  await convert(from, zip, { to: "v3", shards: { y: 8, x: 8 }, codec: "none" });
  return { zip, to: join(folder, "x.zarr") };
}

/** The same with one bit flipped in the middle of an entry. */
async function damaged(key: string): Promise<Archive> {
  const made = await archive();
  const store = await openZipFile(made.zip);
  const value = Buffer.from((await store.get(key)) ?? []);
  await store.close();
  const bytes = await readFile(made.zip);
  const at = bytes.indexOf(value) + (value.length >> 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(made.zip, bytes);
  return made;
}

async function errorsOf(source: string) {
  const found = await all(validate(source, { deep: true }));
  return found.filter(({ level }) => level === "error").map(({ what, key }) => `${what} ${key}`);
}

describe("a shard in a zip, in which one bit is wrong,", () => {
  const chunks = { y: 8, x: 1 };
  const tight = { chunks, maxMemory: "21kB", strategy: "direct" } as const;
  it.each<[string, (made: Archive) => Promise<unknown>]>([
    ["is not recoded", ({ zip, to }) => copy(zip, to, { codec: "zstd" })],
    ["is not rechunked", ({ zip, to }) => rechunk(zip, to, { chunks })],
    ["is not rechunked by tasks that read a part of it each", ({ zip, to }) => rechunk(zip, to, tight)],
    ["has no digest", ({ zip }) => drain(digest(zip))],
    ["is no whole slice", ({ zip }) => slice(`${zip}/t`).read()],
  ])("%s", async (_, run) => {
    const error = { code: "corrupt-store", details: { key: SHARD } };
    await expect(run(await damaged(SHARD))).rejects.toMatchObject(error);
  });

  it("is found by `validate`, from a file and from a server", async () => {
    const { zip } = await damaged(SHARD);
    const server = await serveValues(new Map([["g.zarr.zip", await readFile(zip)]]));
    onTestFinished(() => server.close());
    for (const url of [zip, `${server.url}/g.zarr.zip`])
      expect(await errorsOf(url)).toEqual([`broken-chunk ${SHARD}`]);
    const digests = drain(digest(`${server.url}/g.zarr.zip`));
    await expect(digests).rejects.toMatchObject({ code: "corrupt-store" });
  });

  it("is read in part all the same, and the report counts it", async () => {
    const { zip, to } = await damaged(SHARD);
    expect(await slice(`${zip}/t`, [7, 7]).read()).toMatchObject({ data: new Float32Array([63]) });
    const report = await sliceTo(zip, to, { slice: { y: [4, 8], x: [4, 8] } });
    expect(report.uncheckedEntries).toBe(1);
  });
});

it("a value that is no chunk, in which one bit is wrong, is found by `validate`", async () => {
  expect(await errorsOf((await damaged("README.txt")).zip)).toEqual(["unreadable README.txt"]);
});

it("a run that reads all of a zip reports that no entry is unchecked", async () => {
  const { zip, to } = await archive();
  expect(await errorsOf(zip)).toEqual([]);
  expect((await copy(zip, to, { codec: "zstd" })).uncheckedEntries).toBe(0);
  expect(await copy(to, `${to}.copy`)).not.toHaveProperty("uncheckedEntries");
});
