// Shows what zarrflow does: makes a dataset (or takes a given one), rechunks maps to time series within 64 MB,
// slices the result, and compares all values.
//
//   npm run demo             100 MB of made-up weather
//   npm run demo -- PATH     your own dataset
//
// The results stay in the folder `demo` until the next demo replaces them. Without PATH, it also makes `demo/guides`, the
// data of docs/guides/.
import { spawn } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { open, walk } from "zarrflow";
import { makeWeather, prepareGuides } from "./demo-data.mjs";

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
    const seconds = await timed(() => makeWeather(source, [720, 121, 288], signal));
    console.log(`  done in ${seconds.toFixed(1)} s`);
    await prepareGuides(GUIDES, signal);
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
    `  memory: at most ${peak(report.peakBuffers)} of ${BUDGET} in buffers, ${peak(report.peakMemory)} in the whole process`,
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

/** A chunk shape with the whole first dimension, and about 131,072 items in all. */
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

/** Runs the command in its own process, so that its memory can be measured; returns its standard output. */
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

/** A command line that can be pasted into a shell. */
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
