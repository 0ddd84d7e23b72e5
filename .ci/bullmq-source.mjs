// Makes the sources for the plans of bullmq.mjs: a group of 1,000 small arrays, and an array that is worth two stages.
import { cpSync } from "node:fs";
import { create, createGroup } from "../dist/index.js";

const [group, alone] = process.argv.slice(2);

async function make(path, [time, y, x], chunkTime) {
  const array = await create(path, {
    shape: [time, y, x],
    chunks: [chunkTime, y, x],
    dataType: "float32",
    codec: "zstd:1",
    dimensionNames: ["time", "y", "x"],
  });
  await array.write(
    [],
    Float32Array.from({ length: time * y * x }, (_, i) => Math.sin(i / 1000) * 100),
  );
  await array.close();
}

await (await createGroup(group)).close();
await make(`${group}/a0`, [8, 20, 20], 8);
for (let i = 1; i < 1000; i++) cpSync(`${group}/a0`, `${group}/a${i}`, { recursive: true });
await make(alone, [2400, 60, 60], 2);
