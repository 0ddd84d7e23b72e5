// Measures a rechunk in threads of one process, in 8 processes of array jobs, and in 2 workers of a queue, direct and
// staged: medians of interleaved runs. Needs `npm run build` and, for the queue, a Redis server at QUEUE_URL.
//   QUEUE_URL=redis://127.0.0.1:6379 node bench/engines.mjs [GIB] [ROUNDS] [FOLDER]
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ended, median, runByProcesses, zarrflow } from "./array-jobs.mjs";
import { writeField } from "./write-field.mjs";

const [gib = "2", rounds = "3", folder = join(tmpdir(), "zarrflow-engines")] = process.argv.slice(2);
const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const at = (name) => join(folder, name);
const source = at(`source-${gib}.zarr`);
const plan = at("plan.json");
const PROCESSES = 8;
const cut = (strategy) => [
  ...["--chunks", "1024,16,16", "--max-mem", "256MiB"],
  ...["--strategy", strategy, "--scratch", at("scratch")],
];

/** Each way to run a plan. The plan itself is made before. */
const ways = {
  "threads, 2": ({ flags }) => zarrflow("rechunk", source, at("out.zarr"), ...flags, "--threads", 2),
  [`processes, ${PROCESSES}`]: ({ stages }) => runByProcesses(plan, PROCESSES, stages),
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
      await zarrflow("plan", "rechunk", source, at("out.zarr"), ...flags, "--output", plan);
      const started = performance.now();
      await run({ flags, stages: strategy === "staged" ? 2 : 1, queue: `bench-${process.pid}-${round}` });
      times.get(name).push((performance.now() - started) / 1000);
    }
  }
  const alone = median(times.get("threads, 2"));
  for (const [name, values] of times) {
    console.log(
      `| ${strategy} | ${name} | ${median(values).toFixed(1)} | ${(median(values) / alone).toFixed(2)} |`,
    );
  }
}
