import { mkdtemp, rm } from "node:fs/promises";
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

/** A vector of bytes, uncompressed, so many to a chunk. */
async function makeVector(name: string, chunks: number, chunkBytes: number): Promise<string> {
  const path = join(folder, `${name}.zarr`);
  const store = new DirectoryStore(path, { exclusive: true });
  const metadata = {
    zarr_format: 2,
    shape: [chunks * chunkBytes],
    chunks: [chunkBytes],
    dtype: "|u1",
    compressor: null,
    fill_value: null,
    order: "C",
    filters: null,
  };
  await store.set(".zarray", new TextEncoder().encode(JSON.stringify(metadata)));
  const bytes = new Uint8Array(chunkBytes);
  for (let i = 0; i < chunks; i++) {
    new DataView(bytes.buffer).setUint32(0, i);
    store.setSync?.(`${i}`, bytes);
  }
  return path;
}

describe.runIf(process.platform === "linux")("peak resident memory of copies", () => {
  test.each([
    ["100,000 keys", 100_000, 16],
    ["256 MiB", 256, 2 ** 20],
  ])(
    "of %s from directory to directory, to zip, and back",
    async (name, chunks, chunkBytes) => {
      const source = await makeVector(name.replace(/\W/g, "-"), chunks, chunkBytes);
      for (const [from, to] of [
        [source, `${source}-copy`],
        [source, `${source}.zip`],
        [`${source}.zip`, `${source}-back`],
      ] as const) {
        const peak = await peakMemoryOf("copy", from, to, "--quiet");
        console.log(`VmHWM: ${Math.round(peak / MB)} MB`);
        expect(peak).toBeLessThan(150 * MB);
        if (!to.endsWith(".zip")) await rm(to, { recursive: true });
      }
      await rm(source, { recursive: true });
    },
    300_000,
  );
});
