import { join } from "node:path";
import { create } from "../../src/hierarchy/create/create.ts";

export const SAMPLE_SHAPE = [6, 50, 40];

/** The item at a place of the sample. */
export const sampleItem = (t: number, y: number, x: number) => t * 10_000 + y * 100 + x;

/** Writes `sample.zarr` in a folder: an array of v3, compressed by zstd. */
export async function writeSample(folder: string): Promise<void> {
  const array = await create(join(folder, "sample.zarr"), {
    shape: SAMPLE_SHAPE,
    dataType: "int32",
    dimensionNames: ["time", "y", "x"],
    chunks: [2, 20, 20],
    codec: "zstd:3",
  });
  const [times = 0, rows = 0, columns = 0] = SAMPLE_SHAPE;
  const items = Array.from({ length: times * rows * columns }, (_, i) =>
    sampleItem(Math.floor(i / (rows * columns)), Math.floor(i / columns) % rows, i % columns),
  );
  await array.write({}, Int32Array.from(items));
  await array.close();
}

/** The script of a page that opens the sample, by an entry point of the package, and cuts it. */
export const samplePage = (entry: string) => `
import { open, slice } from ${JSON.stringify(entry)};

globalThis.readSample = async (url) => {
  const array = await open(url);
  const { data, shape } = await slice(array, { time: 3, y: [10, 30, 5], x: [18, 22] }).read();
  return { items: [...data], shape, names: array.dimensionNames };
};
`;

/** What `readSample` gives. */
export const SAMPLE_PART = {
  items: [10, 15, 20, 25].flatMap((y) => [18, 19, 20, 21].map((x) => sampleItem(3, y, x))),
  shape: [4, 4],
  names: ["time", "y", "x"],
};
