// Rechunks maps (24 hours by the whole area) into time series (the whole month by 11 x 7 places), then compares
// digests to prove that the values are the same.
import { join } from "node:path";
import { digest, open, rechunk } from "zarrflow";
import { makeInput } from "./make-input.ts";

const folder = await makeInput();
const maps = join(folder, "era5.zarr");
const series = join(folder, "series.zarr.zip");

const report = await rechunk(maps, series, {
  chunks: { time: -1, latitude: 11, longitude: 7 },
  codec: "zstd:3",
  maxMemory: "16MB",
});
console.log(`${report.chunksRead} chunks read, ${report.chunksWritten} written`);
console.log(`${report.peakBuffers} bytes in buffers at most, of 16000000`);

const node = await open(`${series}/t2m`);
if (node.kind === "array") console.log("chunks of", node.chunkShape.join(" x "));

for (const url of [maps, series]) {
  for await (const { path, sha256 } of digest(url)) console.log(path, sha256.slice(0, 16));
}
