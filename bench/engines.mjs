// How long a rechunk takes in threads of one process, in 8 processes of array jobs, and in 2 workers of a queue, direct
// and staged: medians of interleaved runs. `npm run build` first; for the queue, a Redis server at QUEUE_URL.
//   QUEUE_URL=redis://127.0.0.1:6379 node bench/engines.mjs [GIB] [ROUNDS] [FOLDER]
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeField } from "./write-field.mjs";

const [gib = "2", rounds = "3", folder = join(tmpdir(), "zarrflow-engines")] = process.argv.slice(2);
const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const command = file("../dist/cli/main.js");
const at = (name) => join(folder, name);
const source = at(`source-${gib}.zarr`);
const plan = at("plan.json");
const PROCESSES = 8;
const cut = (strategy) => ["--chunks", "1024,16,16", "--max-mem", "256MiB", "--strategy", strategy];

/** What each way does with a plan's flags; the plan itself is made before. */
const ways = {
  "threads, 2": ({ flags }) => zarrflow("rechunk", source, at("out.zarr"), ...flags, "--quiet"),
  [`processes, ${PROCESSES}`]: async ({ stages }) => {
    for (let stage = 1; stage <= stages; stage++) {
      const share = (index) => ["--task-index", index, "--task-count", PROCESSES, "--stage", stage];
      await all(PROCESSES, (index) => zarrflow("run", plan, ...share(index), "--quiet"));
    }
    await zarrflow("finish", plan, "--quiet");
  },
  "workers of a queue, 2": async ({ queue }) => {
    const env = { ...process.env, QUEUE: queue };
    const workers = Array.from({ length: 2 }, () =>
      spawn(process.execPath, [file("../examples/queue/worker.mjs")], { env, stdio: "ignore" }),
    );
    try {
      await ended(
        spawn(process.execPath, [file("../examples/queue/submit.mjs"), plan], { env, stdio: "ignore" }),
      );
    } finally {
      for (const worker of workers) worker.kill();
      await Promise.all(workers.map((worker) => ended(worker)));
    }
  },
};

if (!existsSync(source)) await writeField(source, Number(gib) * 1024);
console.log(`| strategy | way | wall s | of threads |\n| --- | --- | --- | --- |`);
for (const strategy of ["direct", "staged"]) {
  const times = new Map(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, run] of Object.entries(ways)) {
      for (const name of ["out.zarr", "plan.json"]) rmSync(at(name), { recursive: true, force: true });
      const flags = cut(strategy);
      mkdirSync(at("scratch"), { recursive: true });
      await zarrflow(
        "plan",
        "rechunk",
        source,
        at("out.zarr"),
        ...flags,
        "--scratch",
        at("scratch"),
        "--output",
        plan,
        "--quiet",
      );
      const started = performance.now();
      await run({ flags, stages: strategy === "staged" ? 2 : 1, queue: `bench-${process.pid}-${round}` });
      times.get(name).push((performance.now() - started) / 1000);
    }
  }
  const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  const alone = median(times.get("threads, 2"));
  for (const [name, values] of times) {
    console.log(
      `| ${strategy} | ${name} | ${median(values).toFixed(1)} | ${(median(values) / alone).toFixed(2)} |`,
    );
  }
}

function zarrflow(...args) {
  return ended(
    spawn(process.execPath, [command, ...args.map(String)], { stdio: ["ignore", "ignore", "inherit"] }),
  );
}

async function ended(child) {
  const status = child.exitCode ?? (await new Promise((resolve) => child.once("close", resolve)));
  if (status !== 0) throw new Error(`${child.spawnargs.join(" ")} ended with ${status}`);
}

function all(count, start) {
  return Promise.all(Array.from({ length: count }, (_, index) => start(index)));
}
