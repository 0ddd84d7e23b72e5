// Opens, cuts, copies, rechunks and serves an array in the runtime that runs this, and prints what came of it as JSON. Takes a
// folder to write in, and the URL of the array on a web server.
import { join } from "node:path";
import { copy, create, digest, open, rechunk, slice, toFetchHandler } from "zarrflow";

const [folder, url] = process.argv.slice(2);
const maps = join(folder, "maps.zarr");

const created = await create(maps, {
  shape: [48, 20, 30],
  dataType: "float32",
  chunks: [8, 20, 30],
  codec: "blosc",
  dimensionNames: ["time", "y", "x"],
});
await created.write(
  {},
  Float32Array.from({ length: 48 * 20 * 30 }, (_, i) => Math.fround(i / 7)),
);
await created.close();

const copied = await copy(maps, join(folder, "maps.zarr.zip"), { verify: true });
const changes = { chunks: { time: -1, y: 5, x: 6 }, codec: "zstd:3", maxMemory: "8MB" };
const series = join(folder, "series.zarr.zip");
const rechunked = await rechunk(maps, series, changes);
await rechunk(maps, join(folder, "threads.zarr"), { ...changes, threads: 2, verify: true });

const digests = [];
for (const place of ["maps.zarr", "maps.zarr.zip", "series.zarr.zip", "threads.zarr"]) {
  for await (const { sha256 } of digest(join(folder, place))) digests.push(sha256);
}

const handler = toFetchHandler(maps, { to: "v3" });
const answered = await (await handler(new Request("http://127.0.0.1/zarr.json"))).json();
await handler.close();

const node = await open(series);
const values = async (...cut) => [...(await slice(...cut).read()).data];
console.log(
  JSON.stringify({
    chunks: node.kind === "array" && node.chunkShape,
    items: await values(node, { time: [3, 43, 20], y: 7, x: [28, 30] }),
    served: await values(url, { time: 3, y: [10, 30, 5], x: [18, 22] }),
    keysVerified: copied.keysVerified,
    chunksWritten: rechunked.chunksWritten,
    digests,
    answered: answered.node_type,
    missing: await open(join(folder, "none.zarr")).catch(({ code }) => code),
  }),
);
