// Measures the costs that the planner uses: `COSTS` in src/plan/costs.ts. `npm run calibrate` prints the table of this
// machine. The committed figures are those of an ordinary one: only ratios matter to the choice of a strategy.
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeBytes, encodeBytes } from "../dist/codecs/index.js";
import { create, openArray, rechunk } from "../dist/index.js";
import { regrid } from "../dist/streams/index.js";

const MIB = 2 ** 20;
const RUNS = 7;
const folder = mkdtempSync(join(tmpdir(), "zarrflow-calibrate-"));

/** Smooth float32 values with some noise, like the fields of a model. */
function field(items) {
  const values = new Float32Array(items);
  for (let i = 0; i < items; i++)
    values[i] = 280 + 15 * Math.sin(i / 900) + Math.round(Math.random() * 8) / 8;
  return new Uint8Array(values.buffer);
}

/** The least processor time of several runs, in seconds, since others may use the machine. The first runs warm up. */
async function best(run) {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < RUNS; i++) {
    const before = process.cpuUsage();
    await run(i);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1e6);
  }
  return least;
}

async function codecCosts(config) {
  const items = field(MIB / 4);
  const options = { itemSize: 4 };
  const encoded = await encodeBytes(config, items, options);
  const encoding = await best(async () => {
    for (let i = 0; i < 8; i++) await encodeBytes(config, items, options);
  });
  const decoding = await best(async () => {
    for (let i = 0; i < 8; i++) await decodeBytes(config, encoded, { ...options, size: items.length });
  });
  return { decoded: decoding / (8 * MIB), encoded: encoding / (8 * MIB) };
}

async function scatterCost() {
  const shape = [64, 256, 256];
  const spec = { dataType: { kind: "float", size: 4 }, fillValue: new Uint8Array(4) };
  const pieces = Array.from({ length: 64 }, () => field(256 * 256));
  const seconds = await best(async () => {
    const chunks = pieces.map((bytes, t) => ({
      index: t,
      coords: [t, 0, 0],
      region: { start: [t, 0, 0], shape: [1, 256, 256] },
      data: { kind: "fixed", bytes, itemSize: 4, shape: [1, 256, 256], strides: [65536, 256, 1] },
    }));
    const rechunked = ReadableStream.from(chunks).pipeThrough(
      regrid({ shape, chunk: { ...spec, shape: [64, 16, 16] } }),
    );
    for await (const _ of rechunked);
  });
  return seconds / (64 * 256 * 256 * 4);
}

async function fileCosts(size) {
  const bytes = field(size / 4);
  const files = Math.ceil((64 * MIB) / size);
  const path = (run, i) => join(folder, `${run}-${i}`);
  const writing = await best((run) => {
    for (let i = 0; i < files; i++) {
      const fd = openSync(path(run, i), "w");
      writeSync(fd, bytes);
      closeSync(fd);
    }
  });
  const reading = await best((run) => {
    for (let i = 0; i < files; i++) {
      const fd = openSync(path(run, i), "r");
      readSync(fd, bytes, 0, size, 0);
      closeSync(fd);
    }
  });
  return { written: writing / (files * size), read: reading / (files * size) };
}

/** Small uncompressed chunks, whose bytes cost next to nothing. */
async function chunkCost() {
  const source = join(folder, "small.zarr");
  const items = 16 * 8000;
  const writer = await create(source, { shape: [items], dataType: "uint8", chunks: [16] });
  await writer.write([], new Uint8Array(items).fill(1));
  await writer.close();
  const array = await openArray(source);
  const options = { chunks: [32], threads: 1, strategy: "direct", ifExists: "replace" };
  const seconds = await best(() => rechunk(array, join(folder, "rechunked.zarr"), options));
  return seconds / (items / 16 + items / 32);
}

const figure = (seconds) => Number(seconds.toExponential(2));

try {
  const [lz4, zstd, deflate, other] = [
    await codecCosts({ id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 }),
    await codecCosts({ id: "zstd", level: 3 }),
    await codecCosts({ id: "zlib", level: 6 }),
    await codecCosts({ id: "bz2", level: 5 }),
  ];
  const values = await fileCosts(MIB);
  const objects = await fileCosts(16 * MIB);
  const of = (kind) => ({
    none: 0,
    lz4: figure(lz4[kind]),
    zstd: figure(zstd[kind]),
    deflate: figure(deflate[kind]),
    other: figure(other[kind]),
  });
  console.log({
    chunk: figure(await chunkCost()),
    read: figure(values.read),
    written: figure(values.written),
    scattered: figure(await scatterCost()),
    scratchWritten: figure(objects.written),
    scratchRead: figure(objects.read),
    decoded: of("decoded"),
    encoded: of("encoded"),
  });
} finally {
  rmSync(folder, { recursive: true });
}
