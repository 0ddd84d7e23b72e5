// Compares simulated runs with real ones: rechunks by 1 to 8 processes in a folder of this machine, direct and staged;
// medians of interleaved runs, in time and in processor time, which other programs disturb less. Prints the table of docs/scale.md. `npm run build` first.
//   node bench/processes.mjs [GIB] [ROUNDS] [FOLDER]
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { planRechunk, simulatePlan } from "../dist/index.js";
import { writeField } from "./write-field.mjs";

const [gib = "1", rounds = "3", parent = tmpdir()] = process.argv.slice(2);
const command = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const PROCESSES = [1, 2, 4, 8];
const STRATEGIES = { direct: [64, 64, 64], staged: [1024, 16, 16] };
/** Files at hand: their bytes cost processor time, which the plan counts, and nobody waits for them. */
const NEAR = { latency: 0, bytesPerSecond: 1e15, prefixes: 1e9 };
const CALM = { stragglers: 0, failuresPerHour: 0 };
/** Loaded by each process before the command. */
const REPORT = `data:text/javascript,${encodeURIComponent(
  'import fs from "node:fs"; process.on("exit", () => fs.writeSync(3, JSON.stringify(process.cpuUsage())));',
)}`;

const folder = mkdtempSync(join(parent, "zarrflow-processes-"));
const [source, target, scratch, planFile] = ["in.zarr", "out.zarr", "scratch", "plan.json"].map((name) =>
  join(folder, name),
);
try {
  await writeField(source, Number(gib) * 1024);
  const cores = availableParallelism();
  console.log(`${cores} cores, load ${loadavg()[0].toFixed(1)} before the first run\n`);
  console.log("| strategy | processes | s | simulated | error | processor s | simulated | error |");
  console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const [strategy, chunks] of Object.entries(STRATEGIES)) {
    const plan = await planOf(strategy, chunks);
    const runs = PROCESSES.map(() => []);
    for (let round = 0; round < Number(rounds); round++) {
      for (const [i, count] of PROCESSES.entries()) runs[i].push(await run(strategy, chunks, count));
    }
    for (const [i, workers] of PROCESSES.entries()) {
      const { seconds } = simulatePlan(plan, { ...NEAR, ...CALM, workers, cores });
      const alone = simulatePlan(plan, { ...NEAR, ...CALM, workers });
      const busy = alone.workerSeconds + alone.finishSeconds;
      const of = (name) => median(runs[i].map((run) => run[name]));
      const cells = [...compared(of("seconds"), seconds), ...compared(of("busy"), busy)];
      console.log(`| ${[strategy, workers, ...cells].join(" | ")} |`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

async function planOf(strategy, chunks) {
  const how = { chunks, strategy, scratch, threads: 1, maxMemory: "128MiB" };
  const { plan, close } = await planRechunk(source, target, how);
  await close();
  return plan;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function compared(measured, simulated) {
  const error = Math.round(100 * (simulated / measured - 1));
  return [measured.toFixed(1), simulated.toFixed(1), `${error > 0 ? "+" : ""}${error} %`];
}

/** Seconds from the first start of a process to the published target, and processor seconds of all processes. */
async function run(strategy, chunks, count) {
  for (const path of [target, planFile]) rmSync(path, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  const flags = ["--strategy", strategy, "--scratch", scratch, "--threads", 1, "--max-mem", "128MiB"];
  await zarrflow("plan", "rechunk", source, target, "--chunks", chunks.join(), ...flags, "-o", planFile);
  const started = performance.now();
  const used = [];
  for (let stage = 1; stage <= (strategy === "staged" ? 2 : 1); stage++) {
    const share = (index) => ["--task-index", index, "--task-count", count, "--stage", stage];
    const ended = Array.from({ length: count }, (_, i) => zarrflow("run", planFile, ...share(i)));
    used.push(...(await Promise.all(ended)));
  }
  used.push(await zarrflow("finish", planFile));
  return { seconds: (performance.now() - started) / 1000, busy: used.reduce((sum, one) => sum + one, 0) };
}

/** Processor seconds that the command took, as it writes them at its end. */
async function zarrflow(...args) {
  const flags = ["--import", REPORT, command, ...args.map(String), "--quiet"];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "ignore", "inherit", "pipe"] });
  let text = "";
  child.stdio[3].on("data", (bytes) => {
    text += bytes;
  });
  const status = await new Promise((resolve) => child.once("close", resolve));
  if (status !== 0) throw new Error(`${child.spawnargs.join(" ")} ended with ${status}`);
  const { user, system } = JSON.parse(text);
  return (user + system) / 1e6;
}
