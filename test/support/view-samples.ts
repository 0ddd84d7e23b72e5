import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { given } from "./given.ts";
import { imageAttributes, imageNodes } from "./ome-images.ts";
import { ramp, writeV2Group } from "./v2-store.ts";

export const [TIMES, ROWS, COLUMNS] = [5, 6, 8];

/** What item `[t, r, c]` of the sample's `sst` means: kelvin, or NaN where nothing was measured. */
export function kelvinAt(t: number, r: number, c: number): number {
  return isMissing(t, r, c) ? Number.NaN : packedAt(t, r, c) * 0.5 + 270;
}

function packedAt(t: number, r: number, c: number): number {
  return 10 * t + r * COLUMNS + c;
}

function isMissing(t: number, r: number, c: number): boolean {
  return t === 4 || (r === 1 && c < 3);
}

/**
 * `sea.zarr`: packed numbers `sst` with missing ones and a missing chunk (the last time), latitudes that go up, text, a
 * nested group with float32 `deep/flat` that has NaN and infinity.
 */
export async function writeSea(folder: string): Promise<void> {
  const items = new Int16Array(TIMES * ROWS * COLUMNS);
  let at = 0;
  for (let t = 0; t < TIMES; t++) {
    for (let r = 0; r < ROWS; r++) {
      for (let c = 0; c < COLUMNS; c++) items[at++] = isMissing(t, r, c) ? -1 : packedAt(t, r, c);
    }
  }
  const axis = (name: string, items: ArrayBufferView & ArrayLike<number>, dtype: string, units: string) => ({
    [name]: {
      shape: [items.length],
      chunks: [items.length],
      dtype,
      items,
      dimensions: [name],
      attributes: { units },
    },
  });
  await mkdir(folder, { recursive: true });
  const root = join(folder, "sea.zarr");
  await writeV2Group(
    root,
    {
      ...axis("time", new Int32Array(ramp(TIMES)), "<i4", "days since 2024-06-01"),
      ...axis(
        "lat",
        ramp(ROWS).map((i) => 10 * i),
        "<f4",
        "degrees_north",
      ),
      ...axis("lon", new Float64Array(ramp(COLUMNS).map((i) => 5 * i)), "<f8", "degrees_east"),
      sst: {
        shape: [TIMES, ROWS, COLUMNS],
        chunks: [1, 3, COLUMNS],
        dtype: "<i2",
        items,
        fillValue: -1,
        dimensions: ["time", "lat", "lon"],
        attributes: { scale_factor: 0.5, add_offset: 270, units: "K", long_name: "<b>sea</b> temperature" },
      },
      names: { shape: [3], chunks: [3], dtype: "|O", items: ["a", "b", "c"] },
    },
    { title: "made up" },
  );
  for (const row of [0, 1]) await rm(join(root, `sst/4.${row}.0`));
  const flat = ramp(12);
  flat[3] = Number.NaN;
  flat[5] = Number.POSITIVE_INFINITY;
  await writeV2Group(join(root, "deep"), {
    flat: { shape: [3, 4], chunks: [2, 4], dtype: "<f4", items: flat },
  });
}

/** `image.zarr`: an image of two levels, whose two channels are red from 0 to 47 and green from 48 to 95. */
export async function writeImage(folder: string): Promise<void> {
  const recipe = {
    zarrFormat: "v3",
    axes: ["c", "y", "x"],
    shapes: [
      [2, 6, 8],
      [2, 3, 4],
    ],
    itemSize: [1, 0.5, 0.5],
    omero: {
      channels: [
        { label: "red", color: "FF0000", active: true, window: { start: 0, end: 47 } },
        { label: "green", color: "00FF00", active: true, window: { start: 48, end: 95 } },
      ],
    },
  } as const;
  const attributes = imageAttributes(recipe);
  await given({ at: join(folder, "image.zarr"), zarrFormat: "v3", attributes, ...imageNodes(recipe) });
}
