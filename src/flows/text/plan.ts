import { describeCodec } from "../../meta/codec-traits.ts";
import { CONVERT_VALUES } from "../../meta/shards.ts";
import type {
  ArrayJob,
  Cost,
  Execution,
  GridSide,
  KeptChunks,
  Plan,
  PlannedConversion,
  StoreProfiles,
} from "../../plan/plan.ts";
import { strategyNamed } from "../../plan/strategies.ts";
import { planWarnings, type Warning } from "../../plan/warnings.ts";
import { countSourceChunks } from "../../plan/windows.ts";
import { fromPlain, type JsonObject } from "../../util/json-value.ts";
import { counted, grouped } from "../../util/names.ts";
import { formatBytes } from "../../util/units.ts";
import type { CopyEstimate } from "../estimate-copy.ts";
import type { TakenItems } from "../request/labels/found-labels.ts";
import {
  columns,
  formatDuration,
  formatShape,
  locationText,
  printable,
  storeText,
  takenRows,
} from "./format.ts";

/** Describes the work of a plan and its cost, as lines. */
export function planText(
  plan: Plan,
  {
    copied,
    explain = false,
    taken,
    warning = warningLine,
  }: {
    readonly copied?: CopyEstimate | undefined;
    readonly explain?: boolean | undefined;
    readonly taken?: readonly TakenItems[] | undefined;
    /** Formats a warning as a line; by default in the library's words. */
    readonly warning?: (warning: Warning) => string;
  } = {},
): string {
  const { operation, source, target, jobs } = plan;
  const blocks = [
    `${operation} ${locationText(source.store, source.path)} -> ${locationText(target.store, target.path)}`,
    columns(takenRows(taken)),
    ...jobs.filter(({ tasks }) => tasks > 0).map((job) => jobText(job, explain)),
    untouchedText(jobs.filter(({ tasks }) => tasks === 0)),
    keptText(plan.chunksKept),
    restText(plan, copied),
    totalsText(plan),
    planWarnings(plan).map(warning).join("\n"),
  ];
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}

/** Arrays that keep their chunks, although the new chunks name some of their dimensions. */
function keptText(kept: readonly KeptChunks[] = []): string {
  const lines = kept.slice(0, MAX_LISTED).map(({ path, has, lacks }) => {
    return `${path} keeps its chunks: it has ${has.join(", ")}, but not ${lacks.join(", ")}`;
  });
  if (kept.length > MAX_LISTED) lines.push(`so do ${kept.length - MAX_LISTED} other arrays`);
  if (kept.length > 0) lines.push("--match any rechunks arrays that have any of the named dimensions");
  return lines.map(printable).join("\n");
}

/** Maximum number of arrays that are listed one by one. */
const MAX_LISTED = 10;

/** Describes what happens to keys that no task writes; with counts, if `copied` has them, which include documents. */
function restText({ publication }: Plan, copied: CopyEstimate | undefined): string {
  const { existing, filter = {}, leftOut = [] } = publication;
  const { companions = [] } = filter;
  const isFiltered = filter.include !== undefined || filter.exclude !== undefined;
  const nodes = counted(leftOut.length, "node");
  const lines = [
    ...[filter.include ?? []].flat().map((glob) => `only nodes and keys that match ${glob} are copied`),
    ...[filter.exclude ?? []].flat().map((glob) => `nodes and keys that match ${glob} are skipped`),
    companions.length > 0 && `${listed(companions)} included as companions (--alone omits them)`,
    existing === "skip" &&
      (isFiltered
        ? `${nodes} are kept at the target, or skipped`
        : `${nodes} at the target are kept, with the keys next to them`),
    copiedKeysText(publication, isFiltered),
    copied &&
      `copied unchanged: ${counted(copied.keys, "key")}, ${formatBytes(copied.bytes)}, documents included`,
    copied?.keysKept !== undefined &&
      `up to date: ${counted(copied.keysKept, "key")}; deleted: ${counted(copied.keysDeleted ?? 0, "key")}`,
  ];
  return lines.filter(Boolean).join("\n");
}

/** The first names, and the number of further ones. */
function listed(names: readonly string[]): string {
  const rest = names.length - MAX_LISTED;
  return printable(`${names.slice(0, MAX_LISTED).join(", ")}${rest > 0 ? ` and ${rest} others` : ""}`);
}

/** Describes what happens to keys that no task writes and no filter or existing node excludes. */
function copiedKeysText(
  { copyKeys, existing }: Plan["publication"],
  isFiltered: boolean,
): string | undefined {
  if (existing === "update") {
    return "keys that differ from the target are copied unchanged; keys that the source lacks are deleted";
  }
  if (!copyKeys) return undefined;
  if (existing === "skip") return "keys of nodes that the target lacks are copied unchanged";
  return `all other keys${isFiltered ? " that are selected" : ""} are copied unchanged`;
}

/** The codecs of one side, as text. */
export function codecsText({ codecs }: GridSide): string {
  const stored = codecs.filter(({ name }) => name !== CONVERT_VALUES);
  const words = stored.map(({ name, configuration }) =>
    describeCodec({ name, configuration: fromPlain(configuration) as JsonObject }),
  );
  return words.join(", ") || "none";
}

/** Describes how the values of an array change. */
function valuesText(
  { dataType, map, unpack, pack, overflow }: PlannedConversion,
  { codecs }: GridSide,
): string {
  const from = codecs.find(({ name }) => name === CONVERT_VALUES)?.configuration.from;
  const words = [
    `${from} -> ${dataType}`,
    unpack && "unpacked",
    map && `computed by ${"module" in map ? map.module : "a function"}`,
    pack && `packed with scale ${pack.scale} and offset ${pack.offset}`,
    overflow && "clamped to the range of the type",
  ];
  return words.filter(Boolean).join(", ");
}

/** Describes the work on one array; with `explain`, also why no other strategy was chosen. */
function jobText(job: ArrayJob, explain: boolean): string {
  const { source, target, strategy, notTaken, conversion } = job;
  const visits = job.chunksRead / Math.max(1, countSourceChunks(job));
  const rows = [
    ["strategy", `${strategy}: ${strategyNamed(strategy).summary}`],
    ...(job.cost ? [["", `predicted: ${costText(job.cost)}`]] : []),
    ...(explain ? notTaken : []).flatMap(({ strategy: other, reason, cost }) => [
      ["", `not ${other}: ${reason}`],
      ...(cost ? [["", `    ${costText(cost)}`]] : []),
    ]),
    ...(conversion ? [["values", printable(valuesText(conversion, source))]] : []),
    ["chunks", change(gridText(source), gridText(target))],
    ["codecs", printable(change(codecsText(source), codecsText(target)))],
    [
      "tasks",
      `${grouped(job.tasks)}, each a window of ${formatShape(job.window)} target chunks${stepText(job)}`,
    ],
    ...(job.passes ?? []).map((pass, i) => [
      i === 0 ? "scratch" : "",
      `${counted(pass.tasks, "object")} of ${formatShape(pass.box)} items, ${formatBytes(pass.leaseBytes)} a task`,
    ]),
    ["reads", `${counted(job.chunksRead, "chunk")}, each source chunk ${visits.toFixed(2)} times`],
    ["writes", `at most ${counted(job.chunksWritten, "chunk")}`],
    ...missingRows(job.missingChunks),
    ["memory", `${formatBytes(job.leaseBytes)} a task, ${counted(job.readAhead, "chunk")} in flight`],
  ];
  return `${title(job)}\n${columns(rows)}`;
}

/** A line for each array whose keys are copied like any other keys. */
function untouchedText(jobs: readonly ArrayJob[]): string {
  const rows = jobs.map((job) => [
    title(job),
    job.strategy,
    `at most ${counted(job.chunksWritten, "chunk")} of ${formatBytes(job.source.decodedSize)}`,
  ]);
  return columns(rows, 0);
}

function totalsText(plan: Plan): string {
  const { totals, budget, execution, scratch } = plan;
  const withProgram = totals.predictedPeak + PROGRAM_BYTES + execution.threads * THREAD_BYTES;
  const work = [
    ["tasks", grouped(totals.tasks)],
    ["reads", `${counted(totals.chunksRead, "chunk")}, ${formatBytes(totals.decodedBytes)} decoded`],
    [
      "writes",
      `at most ${counted(totals.chunksWritten, "chunk")}, ${formatBytes(totals.logicalBytes)} of items`,
    ],
    ...missingRows(totals.missingChunks || undefined),
    ["amplification", `each item is read ${totals.readAmplification.toFixed(2)} times`],
    ...(totals.scratchBytes > 0
      ? [["scratch", `${formatBytes(totals.scratchBytes)} in ${scratch ? storeText(scratch) : TEMPORARY}`]]
      : []),
    [
      "memory",
      `${formatBytes(totals.predictedPeak)} of buffers predicted, about ${formatBytes(withProgram)} with the program`,
    ],
  ];
  const threads = ["execution", executionText(execution)];
  const time = totals.predictedSeconds;
  if (time !== undefined) work.push(["time", `${formatDuration(time)} predicted`]);
  work.push(...profileRows(plan.profiles));
  const limits = [["allowed", `${formatBytes(budget.maxMemory)}, and ${requestsText(execution)}`]];
  return `total: ${counted(totals.arrays, "array")}\n${columns([...(totals.tasks > 0 ? [...work, threads] : []), ...limits])}`;
}

/** Chunks that are missing in the source, but written to the target. */
function missingRows(chunks: number | undefined): string[][] {
  if (chunks === undefined) return [];
  return [["missing", `${counted(chunks, "source chunk")}, written with the fill value of the source`]];
}

/** Assumptions about stores over a network. */
function profileRows(profiles: StoreProfiles = {}): string[][] {
  return Object.entries(profiles).map(([side, { latency, bytesPerSecond, basis }], i) => {
    const figures = `${Number((latency * 1000).toPrecision(2))} ms a request (${basis}), ${formatBytes(bytesPerSecond)}/s`;
    return [i === 0 ? "network" : "", `${side}: ${figures}`];
  });
}

function executionText({ threads, singleThreadReason, driver, tasksAtOnce, writer }: Execution): string {
  const reason = singleThreadReason === undefined ? "" : `, because ${singleThreadReason}`;
  const tasks =
    driver === "loop"
      ? "one task each, by blocking file calls"
      : `${counted(tasksAtOnce, "task")} at once, as streams`;
  const writers = writer === "each-thread" ? "each thread writes" : "the first thread writes";
  return `${counted(threads, "thread")}${reason}; ${tasks}${threads > 1 ? `; ${writers}` : ""}`;
}

/** The limit on requests in flight, as text. */
export function requestsText({ concurrency, isAdaptive }: Execution): string {
  return isAdaptive
    ? `requests in flight adapted to each server, at most ${concurrency}`
    : `${counted(concurrency, "request")} in flight per store`;
}

/** Measured memory besides buffers: of Node with the library, and of each thread with its kernels. */
const PROGRAM_BYTES = 60e6;
const THREAD_BYTES = 8e6;

const TEMPORARY = "the folder for temporary files";

/** The predicted cost of a strategy. */
function costText({ seconds, timesDecoded, requests, scratchBytes, peak }: Cost): string {
  return [
    formatDuration(seconds),
    `decoded ${timesDecoded.toFixed(2)} times`,
    counted(requests, "request"),
    scratchBytes > 0 ? `${formatBytes(scratchBytes)} of scratch` : "no scratch",
    `${formatBytes(peak)} of memory`,
  ].join(", ");
}

function title({ path, dataType, source }: ArrayJob): string {
  return printable(`${path || "the array"}  ${dataType} ${formatShape(source.shape)}`);
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

/** A warning as a line, followed by its hint as a sentence. */
export function warningLine({ message, key, path, hint }: Warning): string {
  const about = key !== undefined ? ` (key ${printable(key)})` : path ? ` (${printable(path)})` : "";
  return `warning: ${printable(message)}${about}${hint ? `. ${printable(hint)}` : ""}`;
}
