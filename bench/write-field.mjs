// The array that benchmarks of engines rechunk.
import { create } from "../dist/index.js";

const [height, width] = [512, 512];

/** Writes steps of 1 MiB: waves with noise in the last bits, like a reanalysis. Compression halves them. */
export async function writeField(path, steps) {
  const array = await create(path, {
    shape: [0, height, width],
    dataType: "float32",
    chunks: [1, height, width],
    codec: "blosc:lz4:5:shuffle",
  });
  await array.append(frames(steps));
  await array.close();
}

function* frames(steps) {
  let seed = 1;
  const noise = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    return seed / 2 ** 31;
  };
  const frame = new Float32Array(height * width);
  for (let step = 0; step < steps; step++) {
    for (let i = 0; i < frame.length; i++) {
      const [y, x] = [Math.floor(i / width) / height, (i % width) / width];
      const wave = 12 * Math.sin(2 * Math.PI * (3 * x + step / 240));
      frame[i] = Math.round((285 - 40 * y * y + wave + noise()) * 512) / 512;
    }
    yield frame;
  }
}
