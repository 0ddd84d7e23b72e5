import type { ArrayJob, GridSide, Plan, Strategy } from "../../flows/plan/plan.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { formatBytes } from "../../util/byte-size.ts";
import { product } from "../../util/shape.ts";
import { columns } from "./columns.ts";
import { counted, grouped } from "./count.ts";
import { formatShape } from "./shape.ts";

/** What each strategy does with chunks. */
export const STRATEGIES: Readonly<Record<Strategy, string>> = {
  verbatim: "stored bytes move as they are",
  transcode: "decoded and encoded chunk by chunk",
  direct: "source chunks are scattered into windows of whole target chunks",
};

/** What a plan will do and what it will cost, as lines. */
export function planText(plan: Plan): string {
  const { operation, source, target, jobs, publication } = plan;
  const blocks = [
    `${operation} ${place(source.store, source.path)} -> ${place(target.store, target.path)}`,
    ...jobs.filter(({ tasks }) => tasks > 0).map(jobText),
    untouchedText(jobs.filter(({ tasks }) => tasks === 0)),
    publication.sweep && "all other keys are copied as they are",
    totalsText(plan),
  ];
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}

function jobText(job: ArrayJob): string {
  const { source, target, strategy, notTaken } = job;
  const visits = job.chunksRead / Math.max(1, product(gridShape(source.shape, source.chunkShape)));
  const rows = [
    ["strategy", `${strategy}: ${STRATEGIES[strategy]}`],
    ...notTaken.map(({ strategy: other, reason }) => ["", `not ${other}, as ${reason}`]),
    ["chunks", change(gridText(source), gridText(target))],
    ["codecs", change(source.codecs.join(", ") || "none", target.codecs.join(", ") || "none")],
    [
      "tasks",
      `${grouped(job.tasks)}, each a window of ${formatShape(job.window)} target chunks${stepText(job)}`,
    ],
    ["reads", `${counted(job.chunksRead, "chunk")}, each source chunk ${visits.toFixed(2)} times`],
    ["writes", `at most ${counted(job.chunksWritten, "chunk")}`],
    ["memory", `${formatBytes(job.taskBytes)} a task, ${counted(job.readAhead, "chunk")} in flight`],
  ];
  return `${title(job)}\n${columns(rows)}`;
}

/** Arrays whose keys are copied like any others, a line each. */
function untouchedText(jobs: readonly ArrayJob[]): string {
  const rows = jobs.map((job) => [
    title(job),
    job.strategy,
    `at most ${counted(job.chunksWritten, "chunk")} of ${formatBytes(job.source.decodedSize)}`,
  ]);
  return columns(rows, 0);
}

function totalsText({ totals, budget }: Plan): string {
  const work = [
    ["tasks", grouped(totals.tasks)],
    ["reads", `${counted(totals.chunksRead, "chunk")}, ${formatBytes(totals.decodedBytes)} decoded`],
    [
      "writes",
      `at most ${counted(totals.chunksWritten, "chunk")}, ${formatBytes(totals.logicalBytes)} of items`,
    ],
    ["amplification", `each item is read ${totals.readAmplification.toFixed(2)} times`],
    ["memory", `${formatBytes(totals.predictedPeak)} predicted`],
  ];
  const limits = [
    [
      "allowed",
      `${formatBytes(budget.maxMemory)}, and ${counted(budget.io, "request")} in flight for each store`,
    ],
  ];
  return `in all ${counted(totals.arrays, "array")}\n${columns([...(totals.tasks > 0 ? work : []), ...limits])}`;
}

function title({ path, dataType, source }: ArrayJob): string {
  return `${path || "the array"}  ${dataType} ${formatShape(source.shape)}`;
}

function stepText({ step }: ArrayJob): string {
  return step ? `, ${formatShape(step)} at a time` : "";
}

function gridText({ chunkShape, shardShape, decodedSize }: GridSide): string {
  const shards = shardShape ? ` in shards of ${formatShape(shardShape)}` : "";
  return `${formatShape(chunkShape)} of ${formatBytes(decodedSize)}${shards}`;
}

function change(from: string, to: string): string {
  return from === to ? from : `${from} -> ${to}`;
}

/** A node in words. */
export function place(store: StoreSpec, path: string): string {
  const root = storeText(store);
  return path === "" ? root : `${root}/${path}`;
}

function storeText(store: StoreSpec): string {
  switch (store.kind) {
    case "directory":
    case "zip":
      return store.path;
    case "zip-value":
      return `${storeText(store.store)}/${store.key}`;
    case "http":
      return store.url;
    case "s3":
      return `s3://${store.bucket}/${store.prefix}`.replace(/\/$/, "");
    case "memory":
      return `memory:${store.name}`;
    case "object":
      return store.description;
  }
}
