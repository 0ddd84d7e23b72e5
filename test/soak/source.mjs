// A group of which the right digests are known without the library.
import { createHash } from "node:crypto";
import { createGroup } from "../../dist/index.js";

const SHAPE = [48, 128, 128];

export async function makeSource(url) {
  const [times, height, width] = SHAPE;
  const t2m = Float32Array.from({ length: times * height * width }, (_, i) => {
    const time = Math.floor(i / (height * width));
    return 280 + Math.sin(time / 7) * 10 + ((i * 2654435761) % 4096) / 1024;
  });
  const level = Int16Array.from({ length: height * width }, (_, i) => (i * 7919) % 3000);
  const time = Int32Array.from({ length: times }, (_, i) => 3600 * i);

  const group = await createGroup(url, { attributes: { title: "soak" } });
  const write = async (name, values, shape, chunks, dimensionNames) => {
    const dataType = values.constructor.name.replace("Array", "").toLowerCase();
    const array = await group.create(name, { shape, chunks, dataType, dimensionNames, codec: "zstd:1" });
    await array.write({}, values);
    await array.close();
  };
  await write("t2m", t2m, SHAPE, [4, 64, 64], ["time", "y", "x"]);
  await write("level", level, [height, width], [32, 32], ["y", "x"]);
  await write("time", time, [times], [times], ["time"]);
  await group.close();

  const all = { t2m: hashOf(t2m), level: hashOf(level), time: hashOf(time) };
  /** The digests of the part `[from, to)` in time. */
  const part = (from, to) => ({
    ...all,
    t2m: hashOf(t2m.subarray(from * height * width, to * height * width)),
    time: hashOf(time.subarray(from, to)),
  });
  return { url, times, all, part };
}

function hashOf(values) {
  return createHash("sha256").update(values).digest("hex");
}
