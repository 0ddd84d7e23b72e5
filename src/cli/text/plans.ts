import type { Simulation } from "../../flows/jobs/simulation.ts";
import type { SlicePlan } from "../../flows/plan-slice.ts";
import { columns, formatDuration, formatShape, printable, takenRows } from "../../flows/text/format.ts";
import { counted, grouped } from "../../util/names.ts";
import { formatBytes } from "../../util/units.ts";

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

/** Describes how a slice will be read in C order, and its cost. */
export function slicePlanText(plan: SlicePlan, name: string): string {
  const { slabs, slabShape, chunksRead, chunksTouched, readAmplification, predictedPeak, maxMemory } = plan;
  const { passes, cost } = plan.job;
  const objects = passes?.reduce((sum, { tasks }) => sum + tasks, 0) ?? 0;
  const scratch = passes && [
    "scratch",
    `${counted(objects, "object")} before the first slab, ${formatBytes(cost?.scratchBytes ?? 0)}`,
  ];
  const rows = [
    ...takenRows(plan.taken),
    ["slabs", `${counted(slabs, "slab")} of ${formatShape(slabShape)}, in C order`],
    ["reads", `${counted(chunksRead, "chunk")}; ${counted(chunksTouched, "chunk")} hold items of it`],
    ["amplification", `each chunk is read ${readAmplification.toFixed(2)} times`],
    ...(scratch ? [scratch] : []),
    ["memory", `${formatBytes(predictedPeak)} predicted, ${formatBytes(maxMemory)} allowed`],
  ];
  return `${printable(name)}  ${plan.dataType} ${formatShape(plan.shape)}\n${columns(rows)}\n`;
}
