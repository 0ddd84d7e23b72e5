import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createGroup } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";

const folder = temporaryFolder();

const [count, height, width] = [1000, 20, 30];

function* frames(hash: ReturnType<typeof createHash>): Generator<Float32Array> {
  for (let i = 0; i < count; i++) {
    const frame = Float32Array.from({ length: height * width }, (_, at) => i + at / 1024);
    hash.update(new Uint8Array(frame.buffer));
    yield frame;
  }
}

describe.runIf(hasPython)("frames of unknown number, read by xarray and zarr-python", () => {
  test.each([
    ["v3", "movie.zarr.zip", false],
    ["v3", "movie.zarr", true],
    ["v2", "movie.zarr.zip", true],
    ["v2", "movie.zarr", false],
  ] as const)("%s, %s, consolidated: %j", async (zarrFormat, name, consolidated) => {
    const target = folder.next(name);
    const hash = createHash("sha256");
    const group = await createGroup(
      target,
      { zarrFormat, attributes: { title: "a movie" } },
      { consolidated },
    );
    const movie = await group.create("frames", {
      shape: [0, height, width],
      dataType: "float32",
      chunks: [64, 8, 30],
      fillValue: Number.NaN,
      dimensionNames: ["time", "y", "x"],
      attributes: { units: "K" },
    });
    await movie.append(frames(hash));
    await movie.close();

    const time = await group.create("time", {
      shape: movie.shape.slice(0, 1),
      dataType: "int64",
      chunks: [-1],
      fillValue: -1,
      dimensionNames: ["time"],
      attributes: { units: "hours since 2019-03-01" },
    });
    await time.write(
      [],
      BigInt64Array.from({ length: count }, (_, i) => BigInt(i)),
    );
    await time.close();

    const label = await group.create("label", {
      shape: [3],
      dataType: "string",
      chunks: [2],
      fillValue: null, // xarray takes what equals it for missing
      dimensionNames: ["label"],
    });
    await label.write([], ["a", "", "höhe"]);
    await label.close();
    await group.close();

    expect(await runPython("open_frames.py", target)).toEqual({
      variables: ["frames", "label", "time"],
      attributes: { title: "a movie" },
      dimensions: ["time", "y", "x"],
      shape: [count, height, width],
      dtype: "float32",
      units: "K",
      times: ["2019-03-01T00", "2019-04-11T15"],
      labels: ["a", "", "höhe"],
      at: Math.fround(999 + (19 * 30) / 1024),
      sha256: hash.digest("hex"),
      arrays: { frames: [[64, 8, 30], 16 * 3], label: [[2], 2], time: [[count], 1] },
    });
  });
});
