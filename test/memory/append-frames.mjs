// Appends frames of half a megabyte, no two alike, to an array of unknown length: node append-frames.mjs TARGET COUNT
import { create } from "../../dist/index.js";

const [target = "", count = ""] = process.argv.slice(2);
const [height, width] = [256, 512];

function* frames() {
  for (let i = 0; i < Number(count); i++) {
    // What this generator leaves is collected often, so that the peak is the library's.
    if (i % 32 === 0) globalThis.gc();
    const frame = new Float32Array(height * width);
    for (let at = 0; at < frame.length; at++) frame[at] = i + ((at * 2654435761) % 1024) / 1024;
    yield frame;
  }
}

const movie = await create(target, {
  shape: [0, height, width],
  dataType: "float32",
  chunks: [16, 128, 128],
  codec: "blosc:lz4:1:shuffle",
  dimensionNames: ["time", "y", "x"],
});
await movie.append(frames());
await movie.close();
