import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { requireBuild } from "../built-package.ts";
import { peakMemoryOf } from "./peak-memory.ts";

const MB = 1e6;

let folder: string;
beforeAll(async () => {
  requireBuild();
  folder = await mkdtemp(join(tmpdir(), "zarrflow-memory-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** float32 (1024, 256 * bands, 512), half a megabyte a chunk, uncompressed, all different. */
async function makeBands(bands: number): Promise<string> {
  const path = join(folder, `bands-${bands}.zarr`);
  const store = new DirectoryStore(path);
  const chunk = new Float32Array(256 * 512);
  const metadata = {
    zarr_format: 2,
    shape: [1024, 256 * bands, 512],
    chunks: [1, 256, 512],
    dtype: "<f4",
    compressor: null,
    fill_value: null,
    order: "C",
    filters: null,
  };
  await store.set(".zarray", new TextEncoder().encode(JSON.stringify(metadata)));
  for (let step = 0; step < 1024; step++) {
    for (let i = 0; i < chunk.length; i++) chunk[i] = step + i / 1024;
    for (let band = 0; band < bands; band++)
      await store.set(`${step}.${band}.0`, new Uint8Array(chunk.buffer));
  }
  return path;
}

describe.runIf(process.platform === "linux")("peak resident memory of a rechunk within 128 MB", () => {
  const peaks: number[] = [];

  test.each([1, 2])(
    "of %i times 512 MiB",
    async (bands) => {
      const source = await makeBands(bands);
      const target = join(folder, `series-${bands}.zarr`);
      peaks.push(
        await peakMemoryOf(
          "rechunk",
          source,
          target,
          "--chunks",
          "-1,16,16",
          "--max-mem",
          "128MB",
          "--quiet",
        ),
      );
      expect((await readdir(target)).length).toBe(bands * 16 * 32 + 1);
      await rm(target, { recursive: true });
      await rm(source, { recursive: true });
      console.log(`VmHWM for ${bands * 512} MiB: ${Math.round((peaks.at(-1) ?? 0) / MB)} MB`);
      expect(peaks.at(-1)).toBeLessThan((128 + 120) * MB);
    },
    300_000,
  );

  test("does not grow with the array", () => {
    expect(peaks).toHaveLength(2);
    const [half = 0, whole = 0] = peaks;
    expect(whole - half).toBeLessThan(10 * MB);
  });
});
