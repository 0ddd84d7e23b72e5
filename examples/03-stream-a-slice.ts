// Takes a part of an array in each of the three ways: as chunks, as bytes, and in memory.
import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import { slice } from "zarrflow";
import { makeInput } from "./make-input.ts";

const folder = await makeInput();
const t2m = join(folder, "era5.zarr/t2m");

// The third day. Chunks come in any order; each says where in the slice it belongs.
for await (const { region, shape } of slice(t2m, { time: [48, 72] }).chunks()) {
  console.log(`chunk of ${shape.join(" x ")} at ${region.start.join(", ")}`);
}

// The same as plain bytes in C order: into a file here, or a Response, or another process.
const file = join(folder, "third-day.f32");
await slice(t2m, { time: [48, 72] })
  .bytes()
  .pipeTo(Writable.toWeb(createWriteStream(file)));
console.log(`${(await stat(file)).size} bytes, 24 * 33 * 49 * 4 = ${24 * 33 * 49 * 4}`);

// One place, every sixth hour of the first two days. An index drops its dimension.
const { data, shape } = await slice(t2m, { time: [0, 48, 6], latitude: 16, longitude: -1 }).read();
console.log(`shape ${shape.join(", ")}:`, ...Array.from(data, (kelvin) => Number(kelvin).toFixed(2)));
