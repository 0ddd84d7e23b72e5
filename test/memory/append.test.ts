import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openArray, slice } from "../../src/index.ts";
import { requireBuild } from "../built-package.ts";
import { peakMemoryOfNode } from "./peak-memory.ts";

const MB = 1e6;
/** Else the young generation of V8 grows by a leap of 16 MB when a process gets older, whatever it does. */
const FIXED_HEAP = "--max-semi-space-size=4";
const script = fileURLToPath(new URL("append-frames.mjs", import.meta.url));

let folder: string;
beforeAll(async () => {
  requireBuild();
  folder = await mkdtemp(join(tmpdir(), "zarrflow-memory-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.runIf(process.platform === "linux")("peak resident memory of frames appended to a zip", () => {
  const peaks: number[] = [];

  test.each([1000, 4000])(
    "%i frames of half a megabyte",
    async (count) => {
      const target = join(folder, `${count}.zarr.zip`);
      peaks.push(await peakMemoryOfNode(FIXED_HEAP, script, `${target}/movie`, `${count}`));
      const movie = await openArray(`${target}/movie`);
      expect(movie.shape).toEqual([count, 256, 512]);
      const { data } = await slice(movie, { time: [count - 2, null], y: 0, x: 0 }).read();
      expect([...data]).toEqual([count - 2, count - 1]);
      await movie.store.close?.();
      await rm(target);
      console.log(`VmHWM for ${count} frames: ${Math.round((peaks.at(-1) ?? 0) / MB)} MB`);
    },
    300_000,
  );

  test("does not grow with their number", () => {
    expect(peaks).toHaveLength(2);
    const [few = 0, many = 0] = peaks;
    expect(many - few).toBeLessThan(15 * MB);
  });
});
