import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeV2Metadata } from "../support/v2-store.ts";

/** Makes float32 (steps, 256 * bands, 512) in `path`, half a megabyte a chunk, uncompressed, steps all different. */
export async function makeSteps(path: string, steps: number, bands = 1): Promise<string> {
  await writeV2Metadata(path, {
    shape: [steps, 256 * bands, 512],
    chunks: [1, 256, 512],
    dtype: "<f4",
    dimensions: ["time", "y", "x"],
  });
  const chunk = new Float32Array(256 * 512);
  for (let step = 0; step < steps; step++) {
    for (let i = 0; i < chunk.length; i++) chunk[i] = step + i / 1024;
    for (let band = 0; band < bands; band++) writeFileSync(join(path, `${step}.${band}.0`), chunk);
  }
  return path;
}

/** Makes a group of arrays of so many steps each. */
export async function makeGroup(path: string, arrays: number, steps: number): Promise<string> {
  mkdirSync(path);
  writeFileSync(join(path, ".zgroup"), '{"zarr_format": 2}');
  for (let i = 0; i < arrays; i++) await makeSteps(join(path, `a${i}`), steps);
  return path;
}

/** Makes bytes (rows, rowBytes) in `path`, a row a chunk, uncompressed, all different. */
export async function makeRows(path: string, rows: number, rowBytes: number): Promise<string> {
  await writeV2Metadata(path, { shape: [rows, rowBytes], chunks: [1, rowBytes], dtype: "|u1" });
  const row = Uint8Array.from({ length: rowBytes }, (_, i) => (i * i) >> 7);
  for (let i = 0; i < rows; i++) {
    new DataView(row.buffer).setUint32(0, i);
    writeFileSync(join(path, `${i}.0`), row);
  }
  return path;
}
