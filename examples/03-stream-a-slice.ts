// Reads part of an array in each of the three ways: as chunks, as bytes, and into memory.
import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import { slice } from "zarrflow";
import { makeInput } from "./make-input.ts";

const folder = await makeInput();
const t2m = join(folder, "era5.zarr/t2m");

// The third day. Chunks arrive in any order; each states its place in the slice.
for await (const { region, shape } of slice(t2m, { time: [48, 72] }).chunks()) {
  console.log(`chunk of ${shape.join(" x ")} at ${region.start.join(", ")}`);
}

// The same as plain bytes in C order, here into a file; a Response or another process works too.
const file = join(folder, "third-day.f32");
await slice(t2m, { time: [48, 72] })
  .bytes()
  .pipeTo(Writable.toWeb(createWriteStream(file)));
console.log(`${(await stat(file)).size} bytes, 24 * 33 * 49 * 4 = ${24 * 33 * 49 * 4}`);

// One place, every sixth hour of the first two days. A single index drops its dimension.
const { data, shape } = await slice(t2m, { time: [0, 48, 6], latitude: 16, longitude: -1 }).read();
console.log(`shape ${shape.join(", ")}:`, ...Array.from(data, (kelvin) => Number(kelvin).toFixed(2)));
