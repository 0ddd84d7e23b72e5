// @module-tag long
// @module-tag alone
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { type DiscardingBucket, discardingBucket } from "./discarding-bucket.ts";
import { makeRows } from "./made-sources.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOf } from "./peak-memory.ts";

const MIB = 2 ** 20;
/** MiB of the two stores that are compared; the larger one may be given by the environment. */
const SIZES = [64, Number(process.env.ZARRFLOW_LARGE_MIB ?? 512)] as const;

const folder = temporaryFolder();
const source = (mebibytes: number) => join(folder.path, `${mebibytes}.zarr`);
const zip = (mebibytes: number) => join(folder.path, `${mebibytes}.zip`);

let bucket: DiscardingBucket;
beforeAll(async () => {
  bucket = await discardingBucket();
  stubEnvironment(bucket.env);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await bucket.close();
});

describePeaks("peak resident memory of copies by way of a zip and S3", () => {
  beforeAll(async () => {
    for (const size of SIZES) await makeRows(source(size), size, MIB);
  });

  // the third reads what the second has made
  test.each([
    ["into a zip in S3", source, () => "s3://bucket/x.zarr.zip"],
    ["into a zip", source, zip],
    ["of the zip into a zip in S3", zip, () => "s3://bucket/y.zarr.zip"],
  ] as const)(
    "%s does not grow with the store",
    async (step, from, into) => {
      const runs = SIZES.map((size) => async () => {
        const to = into(size);
        const before = bucket.received();
        if (to === zip(size)) await rm(to, { force: true });
        const peak = await peakMemoryOf("copy", from(size), to, "--max-mem", "64MB");
        if (to.startsWith("s3:")) expect(bucket.received() - before).toBeGreaterThan(size * MIB);
        return peak;
      });
      const what = `copies of ${SIZES.join(" and ")} MiB ${step}`;
      await expectPeaks(what, { peak: 150 * MB, growth: 30 * MB }, ...runs);
    },
    900_000,
  );
});
