// Connects stages by hand, with a custom one in the middle: converts Kelvin to Celsius while rechunking.
import { join } from "node:path";
import { create, type DecodedChunk, like, openArray, readDecoded } from "zarrflow";
import { makeInput } from "./make-input.ts";

const folder = await makeInput();
const source = await openArray(join(folder, "era5.zarr/t2m"));
const target = join(folder, "celsius.zarr");

const toCelsius = new TransformStream<DecodedChunk, DecodedChunk>({
  transform(chunk, controller) {
    const { buffer, byteOffset, length } = chunk.data?.bytes ?? new Uint8Array();
    const kelvin = new Float32Array(buffer, byteOffset, length / 4);
    for (const [i, value] of kelvin.entries()) kelvin[i] = value - 273.15;
    controller.enqueue(chunk);
  },
});

// The source has one chunk per day, the target one per month. The target is not visible until its stream is closed.
const chunks = { chunks: [744, 11, 7], attributes: { ...source.attributes, units: "degC" } };
const out = await create(target, { ...like(source), ...chunks }, { maxMemory: "64MB" });
await readDecoded(source, {}, { maxMemory: "64MB" }).pipeThrough(toCelsius).pipeTo(out.writable);

const celsius = await openArray(target);
for (const array of [source, celsius]) {
  const { data } = await array.slice({ time: 12, latitude: 0, longitude: 0 }).read();
  console.log(`${array.chunkShape.join(" x ")}: ${Number(data.at(0)).toFixed(2)}`);
}
