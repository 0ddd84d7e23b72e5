// Makes the array for the plans of array-jobs.sh.
import { create } from "../dist/index.js";

const [time, y, x] = [240, 100, 80];
const array = await create(process.argv[2], {
  shape: [time, y, x],
  chunks: [8, y, x],
  dataType: "float32",
  codec: "zstd:3",
  dimensionNames: ["time", "y", "x"],
});
await array.write(
  [],
  Float32Array.from({ length: time * y * x }, (_, i) => Math.sin(i / 1000) * 100),
);
await array.close();
