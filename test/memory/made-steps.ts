import { join } from "node:path";
import { DirectoryStore } from "../../src/stores/directory.ts";

/** Makes float32 (steps, 256, 512) in `path`, half a megabyte a chunk, uncompressed, all different. */
export async function makeSteps(path: string, steps: number): Promise<string> {
  const store = new DirectoryStore(path, { exclusive: true });
  const chunk = new Float32Array(256 * 512);
  const metadata = {
    zarr_format: 2,
    shape: [steps, 256, 512],
    chunks: [1, 256, 512],
    dtype: "<f4",
    compressor: null,
    fill_value: null,
    order: "C",
    filters: null,
  };
  const attributes = { _ARRAY_DIMENSIONS: ["time", "y", "x"] };
  await store.set(".zarray", new TextEncoder().encode(JSON.stringify(metadata)));
  await store.set(".zattrs", new TextEncoder().encode(JSON.stringify(attributes)));
  for (let step = 0; step < steps; step++) {
    for (let i = 0; i < chunk.length; i++) chunk[i] = step + i / 1024;
    store.setSync?.(`${step}.0.0`, new Uint8Array(chunk.buffer));
  }
  return path;
}

/** Makes a group of arrays of so many steps each. */
export async function makeGroup(path: string, arrays: number, steps: number): Promise<string> {
  const store = new DirectoryStore(path, { exclusive: true });
  await store.set(".zgroup", new TextEncoder().encode('{"zarr_format": 2}'));
  for (let i = 0; i < arrays; i++) await makeSteps(join(path, `a${i}`), steps);
  return path;
}
