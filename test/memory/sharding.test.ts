// @module-tag long
// @module-tag alone
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { makeSteps } from "./made-sources.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOf } from "./peak-memory.ts";

/** Steps of half a megabyte: 256 MiB. */
const STEPS = 512;

const folder = temporaryFolder();

describePeaks("peak resident memory within 128 MB", () => {
  const limits = { peak: (128 + 120) * MB };
  const within = ["--max-mem", "128MB"];
  const rechunk = async (from: string, to: string, ...options: readonly string[]) => {
    await rm(to, { recursive: true, force: true });
    return peakMemoryOf("rechunk", from, to, ...options, ...within);
  };

  test("of an array that becomes one shard of 256 MiB, and chunks again", async () => {
    const [source, sharded, plain] = ["steps.zarr", "sharded.zarr", "plain.zarr"].map((name) =>
      join(folder.path, name),
    ) as [string, string, string];
    await makeSteps(source, STEPS);
    await expectPeaks("chunks into a shard", limits, () =>
      rechunk(source, sharded, "--to", "v3", "--chunks", "128,16,64", "--shards", "-1,-1,-1"),
    );
    expect((await readdir(sharded, { recursive: true })).filter((name) => /\d$/.test(name))).toHaveLength(3);
    await expectPeaks("a digest of the shard", limits, () => peakMemoryOf("digest", sharded, ...within));
    await expectPeaks("a shard into chunks", limits, () => rechunk(sharded, plain, "--chunks", "4,256,512"));
    expect((await readdir(join(plain, "c"))).length).toBe(STEPS / 4);
    const expected = await digestOf(source);
    expect(await digestOf(sharded)).toBe(expected);
    expect(await digestOf(plain)).toBe(expected);
  }, 600_000);
});
