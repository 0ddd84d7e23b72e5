// Compares simulated runs with real ones: rechunks by 1 to 8 processes in a folder of this machine, direct and staged;
// medians of interleaved runs. The planner predicts seconds of an ordinary machine; the median ratio of simulated to real
// times says how fast this machine is. Prints the table of docs/scale.md. Needs `npm run build`.
//   node bench/processes.mjs [GIB] [ROUNDS] [FOLDER]
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { plan as planFlow, simulatePlan } from "../dist/index.js";
import { median, runByProcesses, zarrflow } from "./array-jobs.mjs";
import { writeField } from "./write-field.mjs";

const [gib = "1", rounds = "3", parent = tmpdir()] = process.argv.slice(2);
const PROCESSES = [1, 2, 4, 8];
const STRATEGIES = { direct: [64, 64, 64], staged: [1024, 16, 16] };
/** Local files: their bytes cost processor time, which the plan counts, but no waiting. */
const NEAR = { latency: 0, bytesPerSecond: 1e15, prefixes: 1e9 };
const CALM = { stragglers: 0, failuresPerHour: 0 };

const folder = mkdtempSync(join(parent, "zarrflow-processes-"));
const [source, target, scratch, planFile] = ["in.zarr", "out.zarr", "scratch", "plan.json"].map((name) =>
  join(folder, name),
);
try {
  await writeField(source, Number(gib) * 1024);
  const cores = availableParallelism();
  console.log(`${cores} cores, load ${loadavg()[0].toFixed(1)} before the first run`);
  const rows = [];
  for (const [strategy, chunks] of Object.entries(STRATEGIES)) {
    const plan = await planOf(strategy, chunks);
    const runs = PROCESSES.map(() => []);
    for (let round = 0; round < Number(rounds); round++) {
      for (const [i, count] of PROCESSES.entries()) runs[i].push(await run(strategy, chunks, count));
    }
    for (const [i, workers] of PROCESSES.entries()) {
      const { seconds } = simulatePlan(plan, { ...NEAR, ...CALM, workers, cores });
      const alone = simulatePlan(plan, { ...NEAR, ...CALM, workers });
      const of = (name) => median(runs[i].map((run) => run[name]));
      const wall = { measured: of("seconds"), simulated: seconds };
      const busy = { measured: of("busy"), simulated: alone.workerSeconds + alone.finishSeconds };
      rows.push({ strategy, workers, wall, busy });
    }
  }
  print(rows);
} finally {
  rmSync(folder, { recursive: true });
}

function print(rows) {
  const speed = median(rows.map(({ wall }) => wall.simulated / wall.measured));
  console.log(`this machine is ${speed.toFixed(2)} times as fast as the one that the planner counts with\n`);
  console.log(
    "| strategy | processes | s | simulated | error | error at this speed | processor s | simulated | error |",
  );
  console.log("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const { strategy, workers, wall, busy } of rows) {
    const cells = [...compared(wall), percent(wall.simulated / speed / wall.measured), ...compared(busy)];
    console.log(`| ${[strategy, workers, ...cells].join(" | ")} |`);
  }
}

function compared({ measured, simulated }) {
  return [measured.toFixed(1), simulated.toFixed(1), percent(simulated / measured)];
}

function percent(ratio) {
  const error = Math.round(100 * (ratio - 1));
  return `${error > 0 ? "+" : ""}${error} %`;
}

async function planOf(strategy, chunks) {
  const how = { chunks, strategy, scratch, threads: 1, maxMemory: "128MiB" };
  const planned = await planFlow(source, target, how);
  await planned.close();
  return planned.plan;
}

/** Seconds from the start of the first process to the published target, and processor seconds of all processes. */
async function run(strategy, chunks, count) {
  for (const path of [target, planFile]) rmSync(path, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  const flags = ["--strategy", strategy, "--scratch", scratch, "--threads", 1, "--max-mem", "128MiB"];
  await zarrflow("plan", "rechunk", source, target, "--chunks", chunks.join(), ...flags, "-o", planFile);
  const started = performance.now();
  const busy = await runByProcesses(planFile, count, strategy === "staged" ? 2 : 1);
  return { seconds: (performance.now() - started) / 1000, busy };
}
