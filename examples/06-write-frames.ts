// Writes frames to a zip as they arrive, without knowing their number; then writes their times, and reads both.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGroup, slice } from "zarrflow";

const [height, width] = [48, 64];

/** Yields frames of a light that moves once around a circle. */
async function* camera(): AsyncGenerator<Uint8Array> {
  for (let angle = 0; angle < 2 * Math.PI; angle += 0.02) {
    const [x, y] = [width / 2 + 20 * Math.cos(angle), height / 2 + 20 * Math.sin(angle)];
    yield Uint8Array.from({ length: height * width }, (_, i) => {
      const distance = Math.hypot((i % width) - x, Math.floor(i / width) - y);
      return 255 * Math.exp(-distance / 4);
    });
  }
}

// The whole group appears at once, when it is closed.
const target = join(await mkdtemp(join(tmpdir(), "zarrflow-example-")), "movie.zarr.zip");
const group = await createGroup(target, { attributes: { title: "a light that goes round" } });
try {
  // The first dimension grows; only one row of chunks is in memory.
  const frames = await group.create("frames", {
    shape: [0, height, width],
    dataType: "uint8",
    chunks: [32, 24, 32],
    codec: "blosc:zstd:3:shuffle",
    dimensionNames: ["time", "y", "x"],
  });
  await frames.append(camera());
  await frames.close();

  const [count = 0] = frames.shape;
  const times = await group.create("time", {
    shape: [count],
    dataType: "int64",
    chunks: [-1],
    dimensionNames: ["time"],
    attributes: { units: "milliseconds since 2026-01-01" },
  });
  await times.write(
    { time: [0, count] },
    BigInt64Array.from({ length: count }, (_, i) => 40n * BigInt(i)),
  );
  await times.close();
  await group.close();
} catch (error) {
  await group.abort(error);
  throw error;
}

const { data, shape } = await slice(`${target}/frames`, { y: height / 2 }).read();
console.log(`${shape.join(" x ")} of ${Math.max(...(data as Uint8Array))} at most in the middle line`);
const last = await slice(`${target}/time`, [-1]).read();
console.log(`the last frame is at ${last.data.at(0)} ms`);
