import { resolve } from "node:path";
import type { Simulation } from "../../flows/jobs/simulation.ts";
import type { PlannedFlow } from "../../flows/request/flow.ts";
import { columns, formatDuration, takenText } from "../../flows/text/format.ts";
import type { Plan } from "../../plan/plan.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { counted, grouped } from "../../util/names.ts";
import { formatBytes } from "../../util/units.ts";
import { streamFrom } from "../../util/web-streams.ts";
import { assertFilesApart, writeOutputFile } from "../file-output.ts";
import { jobScript, SCRIPTS } from "../job-scripts.ts";
import { changesOf, copyChangesOf, countOf, filterOf, planOptions, rateOf } from "../option-values.ts";
import { assertNamedAsZarr } from "../output-names.ts";
import { defineCommand, type FlagValues, type Options } from "../parse-arguments.ts";
import { warningText } from "../progress/event-progress.ts";
import {
  changingOptions,
  filterOptions,
  outputOptions,
  readingOptions,
  taskOptions,
  withEffect,
  writingOptions,
} from "../shared-options.ts";
import type { Terminal } from "../terminal.ts";
import { toJson } from "../text/results.ts";

const VERBS = ["copy", "rechunk", "convert", "slice"] as const;

const simulationOptions = {
  workers: { type: "string", value: "N", summary: "with --simulate: number of processes; 100 by default" },
  "request-ms": {
    type: "string",
    value: "MS",
    summary: "with --simulate: duration of a request in milliseconds; 30 by default",
  },
  bandwidth: {
    type: "string",
    value: "SIZE/s",
    summary: "with --simulate: bytes per second that a worker reads and writes; 100MB/s by default",
  },
  cores: {
    type: "string",
    value: "N",
    summary: "with --simulate: CPU cores that all workers share; by default as many as they can use",
  },
  prefixes: {
    type: "string",
    value: "N",
    summary:
      "with --simulate: partitions of the bucket, each allowing 5,500 GET and 3,500 PUT per second; 1 by default",
  },
} as const satisfies Options;

const options = {
  output: { type: "string", value: "FILE", short: "o", summary: "the file to write the plan to (-o)" },
  script: {
    type: "string",
    value: SCRIPTS.join("|"),
    choices: SCRIPTS,
    effect: { with: ["output"] },
    summary: "also print a script that runs the plan with this scheduler, stage by stage, and finishes it",
  },
  jobs: {
    type: "string",
    value: "N",
    effect: { with: ["script"] },
    summary: "number of jobs that the script starts per stage; 8 by default",
  },
  simulate: {
    type: "boolean",
    summary: "simulate the plan on many workers in S3 and print time and cost; --output is not required",
  },
  ...withEffect(simulationOptions, { with: ["simulate"] }),
  slice: {
    type: "string",
    value: "RANGES",
    summary: "for slice: time=0:24,lat=10:20:2 or labels, as in `zarrflow slice`",
  },
  nearest: { type: "boolean", summary: "if no item has exactly this label, take the nearest one" },
  ...filterOptions,
  ...changingOptions,
  ...readingOptions,
  ...taskOptions,
  threads: { ...taskOptions.threads, summary: "number of threads per job; 1 by default" },
  "if-exists": {
    type: "string",
    value: "error|replace",
    choices: ["error", "replace"],
    effect: { with: ["output"] },
    summary: "what to do if the target exists: fail (default), or replace it at the end",
  },
  fsync: { ...writingOptions.fsync, effect: { with: ["output"] } },
  "write-empty-chunks": { ...writingOptions["write-empty-chunks"], effect: { with: ["output"] } },
  ...outputOptions,
  json: {
    effect: { with: ["simulate"], warns: true },
    type: "boolean",
    summary: "the simulation as JSON on standard output; errors as JSON on standard error",
  },
} as const satisfies Options;

type PlanValues = FlagValues<typeof options>;

export const command = defineCommand({
  usage: "copy|rechunk|convert|slice SRC DST --output FILE",
  notes: [
    "Writes a plan that any number of processes can run together, on one machine or many: each calls `zarrflow",
    "run`, and `zarrflow finish` completes the target. Nothing else is written. DST must be a folder that all",
    "machines can reach, or a prefix of a bucket; so must --scratch if the plan is staged.",
    "A plan contains no credentials. Each process takes them from its own environment, the query of a URL from",
    "ZARRFLOW_QUERY, and headers from ZARRFLOW_HEADERS. --max-mem is the budget of each process.",
  ],
  operands: [3, 3],
  options,
  examples: [
    {
      line: "plan rechunk era5.zarr series.zarr --chunks time=-1,latitude=11,longitude=7 --output plan.json",
      says: "a plan for `zarrflow run` and `zarrflow finish`",
    },
    {
      line: "plan copy era5.zarr small.zarr --codec zstd:5 --output copy.json --script slurm --jobs 16",
      says: "also print a script that submits it to SLURM as array jobs of 16 tasks",
    },
    {
      line: "plan copy era5.zarr small.zarr --codec zstd:5 --simulate --workers 1000",
      says: "also simulate it on 1,000 workers",
    },
  ],
  async run([verb = "", source = "", target = ""], values, terminal) {
    const { output, script } = values;
    if (output === undefined && !values.simulate) {
      throw new ZarrflowError("invalid-option", "plan requires --output", {
        hint: "Write --output plan.json.",
      });
    }
    const count = countOf("jobs", values.jobs ?? "8");
    if (output === "-") {
      throw new ZarrflowError("invalid-option", "a plan must be written to a file, not to `-`", {
        hint: "Write --output plan.json, or --output ./- for a file of that name.",
      });
    }
    assertNamedAsZarr(target);
    const planned = await planOf(verb, source, target, values, terminal.signal);
    try {
      if (output !== undefined) await writePlan(planned, output, { ...values, count }, terminal);
      if (values.simulate) await writeSimulation(planned, values, terminal);
      if (!script || output === undefined) return;
      const { plan } = planned;
      const maxMemory = plan.budget.maxMemory;
      const stages = Math.max(1, plan.stages.length);
      const job = {
        plan: resolve(output),
        stages,
        count,
        maxMemory,
        threads: plan.execution.threads,
        hasMap: namesModules(plan),
      };
      await terminal.write(jobScript(script, job));
    } finally {
      await planned.close();
    }
  },
});

function namesModules({ jobs }: Plan): boolean {
  return jobs.some(({ conversion }) => conversion?.map !== undefined);
}

async function writePlan(
  planned: PlannedFlow,
  output: string,
  {
    fsync = false,
    script,
    count,
    quiet,
    "no-warnings": noWarnings = false,
  }: PlanValues & { readonly count: number },
  { printLine, signal }: Terminal,
): Promise<void> {
  const { assertFlow } = await import("../../flows/run-flow.ts");
  const { planFileOf } = await import("../../flows/jobs/plan-file.ts");
  const { source, target } = planned.plan;
  await assertFilesApart({ output }, { source: source.store, target: target.store });
  await assertFlow(planned, { signal });
  const idle = planned.plan.warnings.filter(({ code }) => code === "option-without-effect");
  if (!noWarnings) for (const warning of idle) printLine(warningText(warning));
  const text = `${JSON.stringify(planFileOf(planned, { fsync }), undefined, 1)}\n`;
  await writeOutputFile(output, streamFrom([new TextEncoder().encode(text)]), {
    ifExists: "replace",
    signal,
  });
  const { stages, jobs } = planned.plan;
  const tasks = stages.map((inStage) => counted(inStage, "task")).join(", then ");
  const what = tasks === "" ? "keys to copy" : tasks;
  if (quiet) return;
  printLine(`${output}: ${counted(jobs.length, "array")}, ${what}`);
  const taken = await planned.taken();
  if (taken.length > 0) printLine(takenText(taken));
  const fewest = Math.min(...stages);
  if (script && fewest < count) {
    printLine(
      `${counted(count, "job")} have ${counted(fewest, "task")} in total; use a smaller --max-mem to get more tasks`,
    );
  }
}

async function writeSimulation(planned: PlannedFlow, values: PlanValues, { write }: Terminal): Promise<void> {
  const { workers = "100", "request-ms": ms = "30", bandwidth = "100MB/s", cores, prefixes = "1" } = values;
  const numberOf = (flag: string, text: string) => {
    if (/^\d+(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
    throw new ZarrflowError("invalid-option", `\`${text}\` in --${flag} is not a positive number`);
  };
  const latency = numberOf("request-ms", ms) / 1000;
  const bytesPerSecond = rateOf("bandwidth", bandwidth);
  const { simulatePlan } = await import("../../flows/jobs/simulate.ts");
  const profile = { latency, bytesPerSecond, basis: "stated" } as const;
  const plan = await planned.planWith({ source: profile, target: profile, scratch: profile });
  const run = simulatePlan(plan, {
    workers: numberOf("workers", workers),
    latency,
    bytesPerSecond,
    ...(cores !== undefined && { cores: numberOf("cores", cores) }),
    prefixes: numberOf("prefixes", prefixes),
  });
  if (values.json) return await write(`${toJson(run)}\n`);
  await write(`${simulationText(run)}\n`);
}

async function planOf(
  verb: string,
  source: string,
  target: string,
  values: PlanValues,
  signal: AbortSignal,
): Promise<PlannedFlow> {
  const { chunks, to, slice, nearest, threads = "1" } = values;
  if (!isVerb(verb)) {
    throw new ZarrflowError("invalid-option", `\`${verb}\` cannot be planned`, {
      hint: `Write plan ${VERBS.join(", plan ")}.`,
    });
  }
  const sliceOnly = Object.entries({ slice, nearest }).find(([, value]) => value !== undefined);
  if (sliceOnly && verb !== "slice") {
    throw new ZarrflowError("invalid-option", `--${sliceOnly[0]} applies only to plan slice`);
  }
  const needed = { copy: {}, rechunk: { chunks }, convert: { to }, slice: { slice } }[verb];
  for (const [flag, value] of Object.entries(needed)) {
    if (value !== undefined) continue;
    throw new ZarrflowError("invalid-option", `plan ${verb} requires --${flag}`, {
      hint: `See \`zarrflow ${verb} --help\`.`,
    });
  }
  const { planFlow } = await import("../../flows/request/flow.ts");
  return planFlow(source, target, {
    ...planOptions({ ...values, threads }, signal),
    ...(verb === "copy" ? copyChangesOf(values) : changesOf(values)),
    ...filterOf(values),
    ...(slice !== undefined && { slice, nearest: nearest ?? false }),
  });
}

function isVerb(verb: string): verb is (typeof VERBS)[number] {
  return VERBS.some((one) => one === verb);
}

/** The time, requests and cost of a simulated run, as lines. */
export function simulationText(run: Simulation): string {
  const { workers, seconds, finishSeconds, stages, requests, cost, failures } = run;
  const rows = stages.map((stage, i) => [
    stages.length > 1 ? `stage ${i + 1}` : "tasks",
    `${formatDuration(stage.seconds)}: ${counted(stage.tasks, "task")}, ${formatDuration(stage.meanSeconds)} a worker on average${throttled(stage.throttledSeconds)}`,
  ]);
  const asked = requests.gets + requests.puts + requests.lists;
  return columns([
    ["time", `${formatDuration(seconds)} on ${counted(workers, "worker")}`],
    ...rows,
    ["finish", formatDuration(finishSeconds)],
    ["skew", `the slowest worker takes ${run.skew.toFixed(2)} times as long as the average`],
    [
      "requests",
      `${grouped(asked)}: ${grouped(requests.gets)} GET, ${grouped(requests.puts)} PUT, ${grouped(requests.lists)} LIST; ${grouped(requests.rejected)} rejected and retried`,
    ],
    ["lost", `${counted(failures, "worker")} restarted, ${counted(run.tasksRepeated, "task")} repeated`],
    ["scratch", formatBytes(run.scratchBytes)],
    [
      "cost",
      `${dollars(cost.total)}: requests ${dollars(cost.requests)}, workers ${dollars(cost.workers)}, scratch ${dollars(cost.scratch)}`,
    ],
  ]);
}

function throttled(seconds: number): string {
  return seconds >= 0.05 ? `, ${formatDuration(seconds)} throttled by the limit of a prefix` : "";
}

function dollars(amount: number): string {
  return `$${amount < 100 ? amount.toFixed(2) : grouped(Math.round(amount))}`;
}
