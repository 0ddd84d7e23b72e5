// Runs plans in several processes of the command, for benchmarks.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
/** Loaded by each process before the command. */
const REPORT = `data:text/javascript,${encodeURIComponent(
  'import fs from "node:fs"; import { isMainThread } from "node:worker_threads"; if (isMainThread) process.on("exit", () => fs.writeSync(3, JSON.stringify(process.cpuUsage())));',
)}`;

/** Runs the command. @returns its processor seconds, which it writes at its end */
export async function zarrflow(...args) {
  const flags = ["--import", REPORT, command, ...args.map(String), "--quiet"];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "ignore", "inherit", "pipe"] });
  let text = "";
  child.stdio[3].on("data", (bytes) => {
    text += bytes;
  });
  await ended(child);
  const { user, system } = JSON.parse(text);
  return (user + system) / 1e6;
}

/** Resolves when a process has succeeded. */
export async function ended(child) {
  const status = child.exitCode ?? (await new Promise((resolve) => child.once("close", resolve)));
  if (status !== 0) throw new Error(`${child.spawnargs.join(" ")} ended with ${status}`);
}

/** Runs a plan, stage by stage, in this many processes at once, and finishes it. @returns the processor seconds of all */
export async function runByProcesses(plan, count, stages) {
  const used = [];
  for (let stage = 1; stage <= stages; stage++) {
    const share = (index) => ["--task-index", index, "--task-count", count, "--stage", stage];
    const runs = Array.from({ length: count }, (_, index) => zarrflow("run", plan, ...share(index)));
    used.push(...(await Promise.all(runs)));
  }
  used.push(await zarrflow("finish", plan));
  return used.reduce((sum, one) => sum + one, 0);
}

export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
