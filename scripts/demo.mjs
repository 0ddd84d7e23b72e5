// Shows what zarrflow does: makes a data set (or takes a given one), rechunks maps to time series within 64 MB,
// slices the result, and compares all values.
//
//   npm run demo             100 MB of made-up weather
//   npm run demo -- PATH     your own data set
//
// The results are left in the folder `demo` and replaced by the next demo. Without PATH, so is `demo/guides`, which holds
// what the pages in docs/guides/ read.
import { spawn } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { open, openArray, walk } from "zarrflow";
import { DirectoryStore } from "zarrflow/stores/directory";
import { encodeChunks, writeChunks } from "zarrflow/streams";

const BUDGET = "64MB";
const FOLDER = "demo";
const GUIDES = join(FOLDER, "guides");
const command = fileURLToPath(new URL("cli/main.js", import.meta.resolve("zarrflow")));
const interruption = new AbortController();
const { signal } = interruption;
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => interruption.abort());

try {
  await demo(process.argv[2]);
} catch (error) {
  if (!signal.aborted) console.error(`\nthe demo failed: ${error.message}`);
  process.exitCode = signal.aborted ? 130 : 1;
}

async function demo(given) {
  const [made, target, file] = ["weather.zarr", "series.zarr.zip", "series.npy"].map((name) =>
    join(FOLDER, name),
  );
  for (const earlier of [made, target, file]) await rm(earlier, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  const source = given ?? made;
  if (given === undefined) {
    console.log("Writing 30 days of hourly temperature on a global grid, one chunk per day ...");
    const seconds = await timed(() => makeWeather(source, [720, 121, 288]));
    console.log(`  done in ${seconds.toFixed(1)} s`);
    await prepareGuides();
  }
  const { path, array } = await largestArray(source);
  const names = array.dimensionNames ?? array.shape.map(() => null);
  console.log(`\n  ${[source, path].filter(Boolean).join("/")}`);
  console.log(
    `  ${array.dataType} (${array.shape.map((n, d) => [names[d], n].filter(Boolean).join(" ")).join(", ")})`,
  );
  console.log(`  chunks (${array.chunkShape.join(", ")})`);

  const chunks = `${path === "" ? "" : `${path}:`}${seriesChunks(array)}`;
  const rechunk = ["rechunk", source, target, "--chunks", chunks, "--max-mem", BUDGET, "--verify"];
  title("Rechunk to chunks that hold whole time series, into a zip, and read every key back", rechunk);
  const report = JSON.parse(await zarrflow([...rechunk, "--json"]));
  const peak = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(
    `  ${report.seconds.toFixed(1)} s; ${rate(report.bytesRead + report.bytesWritten, report.seconds)} read and written`,
  );
  console.log(`  ${report.keysWritten} keys written, ${report.keysVerified} read back and verified`);
  console.log(
    `  memory: at most ${peak(report.peakBuffers)} of ${BUDGET} in buffers, ${peak(report.peakMemory)} the whole process`,
  );

  const result = [target, path].filter(Boolean).join("/");
  const middle = array.shape.map((n) => Math.floor(n / 2));
  const selection = [":", ...middle.slice(1)].slice(0, array.shape.length).join(",");
  const slice = ["slice", result, "--slice", selection, "--format", "npy", "--output", file];
  title("Slice one time series, as a NumPy file", slice);
  console.log(`  ${(await zarrflow(slice)).trim() || "done"}`);

  const digests = [];
  for (const [i, url] of [[source, path].filter(Boolean).join("/"), result].entries()) {
    const line = ["digest", url, "--max-mem", BUDGET];
    title(i === 0 ? "Compare all values with the source" : undefined, line);
    const [digest] = (await zarrflow(line)).split(" ");
    console.log(`  ${digest}`);
    digests.push(digest);
  }
  if (digests[0] !== digests[1]) throw new Error("the digests differ");
  console.log(`  the same\n\nThe results are in the folder ${FOLDER}. What to try next:`);
  for (const line of [
    ["info", source],
    ["rechunk", source, "out.zarr", "--chunks", chunks, "--dry-run"],
    ["copy", source, "smaller.zarr", "--codec", "zstd:5"],
    ["help", "rechunk"],
  ]) {
    console.log(`  ${shown(line)}`);
  }
}

/** What the pages in docs/guides/ read, in a new folder: a month on a part of that grid, and the same as a zip. */
async function prepareGuides() {
  await rm(GUIDES, { recursive: true, force: true });
  await mkdir(GUIDES);
  const [small, zip] = ["era5.zarr", "archive.zarr.zip"].map((name) => join(GUIDES, name));
  await makeWeather(small, [744, 33, 49]);
  await zarrflow(["copy", small, zip, "--quiet"]);
}

/** A field like those of a reanalysis, written through the library's own stages, without knowing how files are laid out. */
async function makeWeather(path, shape) {
  const chunkShape = [24, ...shape.slice(1)];
  const store = new DirectoryStore(path);
  const json = (key, value) => store.set(key, new TextEncoder().encode(JSON.stringify(value, null, 4)));
  const arrayDocument = (dtype, ofShape, chunks) => ({
    zarr_format: 2,
    shape: ofShape,
    chunks,
    dtype,
    compressor: { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 },
    fill_value: null,
    order: "C",
    filters: null,
  });
  const array = async (name, dtype, ofShape, chunks, dimensions, attributes) => {
    await json(`${name}/.zarray`, arrayDocument(dtype, ofShape, chunks));
    await json(`${name}/.zattrs`, { _ARRAY_DIMENSIONS: dimensions, ...attributes });
    return openArray({ store, path: name });
  };
  await json(".zgroup", { zarr_format: 2 });
  const [hours, rows, columns] = shape;
  const axes = {
    time: { values: Int32Array.from({ length: hours }, (_, i) => i), units: "hours since 2024-06-01" },
    latitude: { values: Float32Array.from({ length: rows }, (_, i) => 90 - 1.5 * i), units: "degrees_north" },
    longitude: { values: Float32Array.from({ length: columns }, (_, i) => 1.25 * i), units: "degrees_east" },
  };
  for (const [name, { values: items, units }] of Object.entries(axes)) {
    const axis = await array(name, name === "time" ? "<i4" : "<f4", [items.length], [items.length], [name], {
      units,
    });
    await write(axis, [chunk(0, [0], [items.length], items)]);
  }
  const dimensions = Object.keys(axes);
  const t2m = await array("t2m", "<f4", shape, chunkShape, dimensions, {
    units: "K",
    long_name: "2 metre temperature",
  });
  await write(t2m, days());

  async function write(target, items) {
    await ReadableStream.from(items)
      .pipeThrough(encodeChunks(target))
      .pipeTo(writeChunks(target), { signal });
  }

  function* days() {
    const temperature = weather(rows, columns);
    for (let day = 0; day * 24 < hours; day++) {
      const items = new Float32Array(24 * rows * columns);
      for (let hour = 0; hour < 24; hour++)
        temperature(day * 24 + hour, items.subarray(hour * rows * columns));
      yield chunk(day, [day, 0, 0], chunkShape, items);
    }
  }
}

/** A chunk as the stages take it: items in C order, and their position. */
function chunk(index, coords, shape, items) {
  const bytes = new Uint8Array(items.buffer);
  const strides = shape.map((_, d) => shape.slice(d + 1).reduce((product, n) => product * n, 1));
  const start = coords.map((c, d) => c * shape[d]);
  const data = { kind: "fixed", bytes, itemSize: items.BYTES_PER_ELEMENT, shape, strides };
  return { index, coords, region: { start, shape }, data };
}

/** Temperature in kelvin to a hundredth: colder to the poles, warmer by day, with travelling waves and noise. */
function weather(rows, columns) {
  let seed = 1;
  const noise = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    return seed / 2 ** 31;
  };
  return (hour, items) => {
    const wave = Float64Array.from({ length: columns }, (_, c) =>
      Math.sin((2 * Math.PI * (3 * c)) / columns - hour / 40),
    );
    const sun = Float64Array.from({ length: columns }, (_, c) =>
      Math.cos(2 * Math.PI * (c / columns + hour / 24)),
    );
    for (let r = 0; r < rows; r++) {
      const height = Math.cos(Math.PI * (r / (rows - 1) - 0.5));
      for (let c = 0; c < columns; c++) {
        const kelvin = 245 + 55 * height + 6 * wave[c] * height + 4 * sun[c] * height + 0.2 * noise();
        items[r * columns + c] = Math.round(kelvin * 100) / 100;
      }
    }
  };
}

/** The whole first dimension, and of the others as much as makes chunks of about 131,072 items. */
function seriesChunks({ shape, chunkShape, dimensionNames }) {
  const [first = 1, ...others] = shape;
  const side = Math.max(1, Math.round((131072 / first) ** (1 / Math.max(1, others.length))));
  const sizes = shape.length < 2 ? chunkShape : [-1, ...others.map((n) => Math.min(n, side))];
  const named = new Set(dimensionNames).size === shape.length && !dimensionNames.includes(null);
  return sizes.map((size, d) => (named ? `${dimensionNames[d]}=${size}` : size)).join(",");
}

async function largestArray(source) {
  const root = await open(source);
  if (root.kind === "array") return { path: "", array: root };
  const items = (array) => array.shape.reduce((product, n) => product * n, 1);
  let largest;
  for await (const node of walk(root)) {
    if (node.kind !== "array" || !("size" in node.metadata.dataType)) continue;
    if (!largest || items(node) > items(largest)) largest = node;
  }
  if (!largest) throw new Error(`${source} has no arrays of numbers`);
  return { path: largest.path.slice(root.path.length).replace(/^\//, ""), array: largest };
}

/** Runs the command in a process of its own, so that its memory is its own; returns what it writes to standard output. */
function zarrflow(line) {
  signal.throwIfAborted();
  return new Promise((resolveRun, reject) => {
    const stderr = line.includes("--output") ? "pipe" : "inherit";
    const child = spawn(process.execPath, [command, ...line], { stdio: ["ignore", "pipe", stderr] });
    const output = [];
    child.stdout.on("data", (data) => output.push(data));
    child.stderr?.on("data", (data) => output.push(data));
    signal.addEventListener("abort", () => child.kill("SIGINT"));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolveRun(Buffer.concat(output).toString());
      else reject(new Error(`zarrflow ${line[0]} ended with exit code ${code}`));
    });
  });
}

function title(text, line) {
  if (text) console.log(`\n${text}`);
  console.log(`  $ ${shown(line)}`);
}

/** A command line to paste. */
function shown(line) {
  return `npx zarrflow ${line.join(" ")}`;
}

function rate(bytes, seconds) {
  return `${(bytes / 1e6 / Math.max(seconds, 0.001)).toFixed(0)} MB/s`;
}

async function timed(run) {
  const started = performance.now();
  await run();
  return (performance.now() - started) / 1000;
}
