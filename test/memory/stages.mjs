// Rechunks an array of so many frames of a megabyte through stages, within 24 MB each way.
import { create, like, openArray, readDecoded } from "../../dist/index.js";

const [folder, count] = process.argv.slice(2);
const frame = 1024 * 1024;
const options = { maxMemory: "24MB" };
const grid = { shape: [0, 1024, 1024], dataType: "uint8", codec: "zstd:1" };
const source = await create(`${folder}/source.zarr`, { ...grid, chunks: [1, 1024, 1024] }, options);
await source.append(frames());
await source.close();

const opened = await openArray(`${folder}/source.zarr`);
const out = await create(`${folder}/target.zarr`, { ...like(opened), chunks: [8, 512, 512] }, options);
const added = new TransformStream({
  transform(chunk, controller) {
    const { bytes } = chunk.data;
    for (let i = 0; i < bytes.length; i += 4096) bytes[i] += 1;
    controller.enqueue(chunk);
  },
});
await readDecoded(opened, {}, options).pipeThrough(added).pipeTo(out.writable);

async function* frames() {
  for (let i = 0; i < Number(count); i++) {
    // what this generator leaves is collected often, so that the peak is the library's
    if (i % 8 === 0) globalThis.gc();
    yield new Uint8Array(frame).fill((i % 200) + 1);
  }
}
