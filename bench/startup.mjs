// Measures how long the command takes to print its help and to read one value, and how long Node alone takes: medians of
// interleaved runs of whole processes. ZARRFLOW_DIST names the folder of another build.
// Clears NODE_EXTRA_CA_CERTS: Node reads the bundle that it names at each start, which can take longer than the rest.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { create } from "../dist/index.js";

const RUNS = 21;
const dist = process.env.ZARRFLOW_DIST ?? fileURLToPath(new URL("../dist", import.meta.url));
const command = resolve(dist, "cli/main.js");
const folder = mkdtempSync(join(tmpdir(), "zarrflow-startup-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const source = join(folder, "a.zarr");
await (await create(source, { shape: [8], chunks: [8], dataType: "uint8", zarrFormat: "v2" })).close();
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
const programs = {
  "node -e 0": ["-e", "0"],
  "zarrflow --version": [command, "--version"],
  "zarrflow --help": [command, "--help"],
  "zarrflow slice, of 8 bytes": [command, "slice", source, "--slice", "0:8", "--format", "npy"],
};

const times = new Map(Object.keys(programs).map((name) => [name, []]));
for (let run = 0; run <= RUNS; run++) {
  for (const [name, args] of Object.entries(programs)) {
    const started = performance.now();
    const { status } = spawnSync(process.execPath, args, { env, stdio: "ignore" });
    if (status !== 0) throw new Error(`${name} ended with ${status}`);
    if (run > 0) times.get(name).push(performance.now() - started);
  }
}
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const bare = median(times.get("node -e 0"));
console.log("| program | wall ms | / bare node |\n| --- | --- | --- |");
for (const [name, values] of times) {
  console.log(`| ${name} | ${median(values).toFixed(0)} | ${(median(values) / bare).toFixed(2)} |`);
}
