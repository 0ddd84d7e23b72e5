import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { requireBuild } from "../built-package.ts";
import { type DiscardingBucket, discardingBucket } from "./discarding-bucket.ts";
import { peakMemoryOf } from "./peak-memory.ts";

const MB = 1e6;
const MIB = 2 ** 20;
/** MiB of the two stores that are compared; the larger one may be given by the environment. */
const SIZES = [64, Number(process.env.ZARRFLOW_LARGE_MIB ?? 512)] as const;

let folder: string;
let bucket: DiscardingBucket;
const env = { ...process.env };
beforeAll(async () => {
  requireBuild();
  folder = await mkdtemp(join(tmpdir(), "zarrflow-memory-"));
  bucket = await discardingBucket();
  Object.assign(process.env, bucket.env);
});
afterAll(async () => {
  process.env = env;
  await bucket.close();
  await rm(folder, { recursive: true, force: true });
});

/** Bytes (MiB, 1048576), a mebibyte a chunk, all different. */
async function makeSource(mebibytes: number): Promise<string> {
  const path = join(folder, `source-${mebibytes}.zarr`);
  const store = new DirectoryStore(path);
  const chunk = new Uint8Array(MIB).map((_, i) => (i * i) >> 7);
  const metadata = {
    zarr_format: 2,
    shape: [mebibytes, MIB],
    chunks: [1, MIB],
    dtype: "|u1",
    compressor: null,
    fill_value: null,
    order: "C",
    filters: null,
  };
  await store.set(".zarray", new TextEncoder().encode(JSON.stringify(metadata)));
  for (let row = 0; row < mebibytes; row++) {
    chunk[0] = row;
    await store.set(`${row}.0`, chunk);
  }
  return path;
}

describe.runIf(process.platform === "linux")("peak resident memory of copies by way of a zip and S3", () => {
  const peaks = new Map<string, number>();

  test.each(SIZES)(
    "of %i MiB",
    async (mebibytes) => {
      const source = await makeSource(mebibytes);
      const zip = join(folder, `${mebibytes}.zip`);
      const steps = {
        "into a zip in S3": [source, "s3://bucket/x.zarr.zip"],
        "into a zip": [source, zip],
        "of the zip into a zip in S3": [zip, "s3://bucket/y.zarr.zip"],
      } as const;
      for (const [step, [from, to]] of Object.entries(steps)) {
        const before = bucket.received();
        const peak = await peakMemoryOf("copy", from, to, "--max-mem", "64MB", "--quiet");
        if (to.startsWith("s3:")) expect(bucket.received() - before).toBeGreaterThan(mebibytes * MIB);
        peaks.set(`${step} ${mebibytes}`, peak);
        console.log(`VmHWM of ${mebibytes} MiB ${step}: ${Math.round(peak / MB)} MB`);
        expect(peak).toBeLessThan(150 * MB);
      }
      await rm(source, { recursive: true });
      await rm(zip);
    },
    600_000,
  );

  test.each(["into a zip in S3", "into a zip", "of the zip into a zip in S3"])(
    "%s does not grow with the store",
    (step) => {
      const [small, large] = SIZES.map((size) => peaks.get(`${step} ${size}`) ?? Number.NaN);
      expect((large ?? Number.NaN) - (small ?? Number.NaN)).toBeLessThan(30 * MB);
    },
  );
});
