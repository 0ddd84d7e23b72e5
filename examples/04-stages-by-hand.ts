// Connects the stages by hand, with one of its own in the middle: Kelvin to Celsius while rechunking.
import { join } from "node:path";
import { openArray, slice, ZarrArray } from "zarrflow";
import { formatNamed } from "zarrflow/meta";
import { MemoryStore } from "zarrflow/stores/memory";
import {
  type DecodedChunk,
  decodeChunks,
  encodeChunks,
  readChunks,
  regrid,
  writeChunks,
} from "zarrflow/streams";
import { makeInput } from "./make-input.ts";

const source = await openArray(join(await makeInput(), "era5.zarr/t2m"));

// The target: the same metadata but for the chunk shape. Its documents are put last, when all chunks are there.
const store = new MemoryStore("celsius");
const metadata = { ...source.metadata, chunkGrid: { chunkShape: [744, 11, 7] } };
const zarrFormat = formatNamed("v2");
const layout = zarrFormat.layout("celsius");
const place = { kind: "object", description: store.description } as const;
const target = new ZarrArray({ store, spec: place, layout, metadata });

const toCelsius = new TransformStream<DecodedChunk, DecodedChunk>({
  transform(chunk, controller) {
    if (chunk.data) {
      const { buffer, byteOffset, length } = chunk.data.bytes;
      const kelvin = new Float32Array(buffer, byteOffset, length / 4);
      for (const [i, value] of kelvin.entries()) kelvin[i] = value - 273.15;
    }
    controller.enqueue(chunk);
  },
});

// The source has a chunk a day. Each says where it belongs, so the order is of no importance.
const [hours = 0, ...area] = source.shape;
const days = Array.from({ length: hours / 24 }, (_, day) => ({
  index: day,
  coords: [day, 0, 0],
  region: { start: [24 * day, 0, 0], shape: [24, ...area] },
}));

const { spec, strides } = await target.pipeline();
await readChunks(source, days)
  .pipeThrough(decodeChunks(source))
  .pipeThrough(toCelsius)
  .pipeThrough(regrid({ shape: target.shape, chunk: spec, strides }))
  .pipeThrough(encodeChunks(target))
  .pipeTo(writeChunks(target));
for (const [key, bytes] of zarrFormat.write(metadata, layout)) await store.set(key, bytes);

const celsius = await openArray({ store, path: "celsius" });
for (const array of [source, celsius]) {
  const { data } = await slice(array, { time: 12, latitude: 0, longitude: 0 }).read();
  console.log(`${array.chunkShape.join(" x ")}: ${Number(data.at(0)).toFixed(2)}`);
}
