import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { digest } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { requireBuild } from "../built-package.ts";
import { peakMemoryOf } from "./peak-memory.ts";

const MB = 1e6;
const STEPS = 512;

let folder: string;
beforeAll(async () => {
  requireBuild();
  folder = await mkdtemp(join(tmpdir(), "zarrflow-memory-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** float32 (512, 256, 512), half a megabyte a chunk, uncompressed, all different: 256 MiB. */
async function makeSteps(path: string): Promise<void> {
  const store = new DirectoryStore(path);
  const chunk = new Float32Array(256 * 512);
  const metadata = {
    zarr_format: 2,
    shape: [STEPS, 256, 512],
    chunks: [1, 256, 512],
    dtype: "<f4",
    compressor: null,
    fill_value: null,
    order: "C",
    filters: null,
  };
  await store.set(".zarray", new TextEncoder().encode(JSON.stringify(metadata)));
  for (let step = 0; step < STEPS; step++) {
    for (let i = 0; i < chunk.length; i++) chunk[i] = step + i / 1024;
    await store.set(`${step}.0.0`, new Uint8Array(chunk.buffer));
  }
}

async function digestOf(path: string): Promise<string | undefined> {
  for await (const { sha256 } of digest(path)) return sha256;
  return undefined;
}

describe.runIf(process.platform === "linux")("peak resident memory within 128 MB", () => {
  const within = ["--max-mem", "128MB", "--quiet"];
  const check = (peak: number, what: string) => {
    console.log(`VmHWM of ${what}: ${Math.round(peak / MB)} MB`);
    expect(peak).toBeLessThan((128 + 120) * MB);
  };

  test("of an array that becomes one shard of 256 MiB, and chunks again", async () => {
    const [source, sharded, plain] = ["steps.zarr", "sharded.zarr", "plain.zarr"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    await makeSteps(source);
    const into = ["--to", "v3", "--chunks", "128,16,64", "--shards", "-1,-1,-1", ...within];
    check(await peakMemoryOf("rechunk", source, sharded, ...into), "chunks into a shard");
    expect((await readdir(sharded, { recursive: true })).filter((name) => /\d$/.test(name))).toHaveLength(3);
    check(await peakMemoryOf("digest", sharded, ...within), "a digest of the shard");
    check(
      await peakMemoryOf("rechunk", sharded, plain, "--chunks", "4,256,512", ...within),
      "a shard into chunks",
    );
    expect((await readdir(join(plain, "c"))).length).toBe(STEPS / 4);
    const expected = await digestOf(source);
    expect(await digestOf(sharded)).toBe(expected);
    expect(await digestOf(plain)).toBe(expected);
  }, 300_000);
});
