import type { Simulation } from "../../flows/jobs/simulation.ts";
import { columns } from "../../flows/text/columns.ts";
import { counted, formatDuration, grouped } from "../../flows/text/numbers.ts";
import { formatBytes } from "../../util/byte-size.ts";

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
    ["skew", `the last worker takes ${run.skew.toFixed(2)} times as long as the average`],
    [
      "requests",
      `${grouped(asked)}: ${grouped(requests.gets)} GET, ${grouped(requests.puts)} PUT, ${grouped(requests.lists)} LIST; ${grouped(requests.rejected)} rejected and made again`,
    ],
    ["lost", `${counted(failures, "worker")} started again, ${counted(run.tasksRepeated, "task")} repeated`],
    ["scratch", formatBytes(run.scratchBytes)],
    [
      "cost",
      `${dollars(cost.total)}: requests ${dollars(cost.requests)}, workers ${dollars(cost.workers)}, scratch ${dollars(cost.scratch)}`,
    ],
  ]);
}

function throttled(seconds: number): string {
  return seconds >= 0.05 ? `, ${formatDuration(seconds)} at the limit of a prefix` : "";
}

function dollars(amount: number): string {
  return `$${amount < 100 ? amount.toFixed(2) : grouped(Math.round(amount))}`;
}
