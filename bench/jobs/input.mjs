// The dataset for measuring the jobs of examples/jobs: packed temperatures with their coordinates, in Zarr v3.
import { createGroup } from "zarrflow";

export const SIZES = { time: 96, latitude: 64, longitude: 128 };

/** Makes the group at a place; the array is `t2m`. */
export async function makeInput(target, sizes = SIZES) {
  const group = await createGroup(target, { zarrFormat: "v3" });
  const dimensionNames = Object.keys(sizes);
  const shape = Object.values(sizes);
  const chunks = [8, Math.min(32, sizes.latitude), Math.min(64, sizes.longitude)];
  const attributes = { units: "K", scale_factor: 0.01, add_offset: 273.15, _FillValue: -32768 };
  const array = { shape, chunks, dimensionNames, dataType: "int16", fillValue: -32768, codec: "zstd:3" };
  const t2m = await group.create("t2m", { ...array, attributes });
  const [, rows, columns] = shape;
  const kelvinAt = (i) => 1500 * Math.cos(((Math.floor(i / columns) % rows) / rows) * 3) + ((i * 7) % 40);
  const values = Int16Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) =>
    i % 977 === 0 ? -32768 : Math.round(kelvinAt(i)),
  );
  await t2m.write({}, values);
  await t2m.close();
  const coordinates = { latitude: (i) => 80 - 2.5 * i, longitude: (i) => -20 + 2.5 * i };
  for (const [name, labelAt] of Object.entries(coordinates)) {
    const length = sizes[name];
    const of = { shape: [length], chunks: [length], dimensionNames: [name], dataType: "float64" };
    const writer = await group.create(name, of);
    await writer.write(
      {},
      Float64Array.from({ length }, (_, i) => labelAt(i)),
    );
    await writer.close();
  }
  await group.close();
}
