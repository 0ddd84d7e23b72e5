import type { NodeMetadata } from "../../meta/array-metadata.ts";
import type { FormatDefinition } from "../../meta/format.ts";
import { FORMAT_DEFAULTS } from "../../meta/format-defaults.ts";
import { storeTraits } from "../../stores/store-traits.ts";
import { writerMemory } from "../../stores/writer-memory.ts";
import { wholeSelection } from "../../streams/selection.ts";
import { copyMemory } from "../keys/copy-value.ts";
import { missingAncestors, sharedDocuments } from "./ancestor-metadata.ts";
import { chooseJob, type JobChoice, type JobRequest, jobOfChoice } from "./array-job.ts";
import { driverOf, executionOf } from "./execution.ts";
import { storeReservedBytes } from "./expected-size.ts";
import type { HierarchyPlanRequest, SourceNode } from "./hierarchy-request.ts";
import type { ArrayJob, Plan } from "./plan.ts";
import { depthOf, inPublishingOrder, type NodeDocuments, plannedDocuments } from "./planned-documents.ts";
import { assertDistinctNames, targetPath } from "./target-path.ts";
import { assertBudget, smallerChunks } from "./task-memory.ts";
import { largestTask, totalsOf } from "./totals.ts";

/** One thread gains nothing from more tasks at once than it takes to overlap codecs with input and output. */
const TASKS_AT_ONCE = 3;

/**
 * Plans a node and all below it: a job an array, and what is published in the end. Pure: nothing is read or
 * written.
 *
 * @throws `budget-too-small`, `unsupported-codec`, `loss-refused`.
 */
export async function planHierarchy(request: HierarchyPlanRequest): Promise<Plan> {
  const { nodes, source, target, zarrFormat, maxMemory, io, threads = 1 } = request;
  const writerBytes = writerMemory(target.store);
  const driver = driverOf(request);
  const tasksAtOnce = driver === "loop" ? threads : Math.max(threads, TASKS_AT_ONCE);
  const choices: { readonly job: JobRequest; readonly choice: JobChoice }[] = [];
  const documents: NodeDocuments[] = [];
  assertDistinctNames(
    nodes.map(({ path }) => targetPath(path, source.path, target.path)),
    zarrFormat,
  );
  for (const node of nodes) {
    const path = targetPath(node.path, source.path, target.path);
    const layout = zarrFormat.layout(path);
    const before = request.converted?.metadata.get(node.path) ?? node.metadata;
    const change = before.kind === "array" ? request.change(node.path, before) : undefined;
    const metadata =
      change || node.layout.zarrFormat !== zarrFormat.name
        ? inFormat(change?.metadata ?? before, node, zarrFormat)
        : before;
    if (node.metadata.kind === "array" && metadata.kind === "array") {
      const job = {
        source: { path: node.path, zarrFormat: node.layout.zarrFormat, metadata: node.metadata },
        target: { path, zarrFormat: zarrFormat.name, metadata },
        selection: change?.selection ?? wholeSelection(metadata.shape),
        maxMemory,
        // A loop has one request in flight.
        io: driver === "loop" ? 1 : io,
        writerBytes,
        keysToCopy: request.sweep,
        threads,
        tasksAtOnce,
        driver,
        remote: {
          source: storeTraits(source.store).isRemote,
          target: storeTraits(target.store).isRemote,
          scratch: request.scratch !== undefined && storeTraits(request.scratch).isRemote,
        },
        strategy: request.strategy,
        missing: request.missing?.get(node.path),
      };
      choices.push({ job, choice: await chooseJob(job) });
    }
    documents.push({
      depth: depthOf(path),
      group: metadata.kind === "group",
      documents: plannedDocuments(node, metadata, {
        ...request,
        layout,
        isChanged: change !== undefined || before !== node.metadata,
      }),
    });
  }
  const sides = choices.map(({ choice }) => choice.sides);
  const held = storeReservedBytes(request, sides, maxMemory);
  demandMost(choices, held, request);
  const jobs: ArrayJob[] = [];
  const stages: number[] = [];
  for (const { job, choice } of choices) {
    const planned = jobOfChoice({ ...job, maxMemory: maxMemory - held }, choice, stages);
    for (const [stage, { tasks }] of [...(planned.passes ?? []), planned].entries()) {
      stages[stage] = (stages[stage] ?? 0) + tasks;
    }
    jobs.push(planned);
  }
  const from = nodes[0]?.layout.zarrFormat ?? zarrFormat.name;
  const ancestors = missingAncestors(target.path, zarrFormat);
  const totals = totalsOf(jobs, stages, held, { ...request, tasksAtOnce });
  return {
    format: "zarrflow-plan/1",
    operation: request.operation,
    source,
    target,
    ...(request.scratch && { scratch: request.scratch }),
    budget: {
      maxMemory,
      leaseBytes: largestTask(jobs),
    },
    execution: executionOf(request, { driver, tasksAtOnce, jobs, totals }),
    jobs,
    stages,
    publication: {
      zarrFormat: zarrFormat.name,
      from,
      documents: [...sharedDocuments(from, zarrFormat), ...inPublishingOrder(documents), ...ancestors],
      consolidate: consolidatedTargets(request),
      sweep: request.sweep,
    },
    totals,
    warnings: request.converted?.warnings ?? [],
  };
}

/** @throws `budget-too-small` for the array that needs the most: with what it needs, all others can be done. */
function demandMost(
  choices: readonly { readonly job: JobRequest; readonly choice: JobChoice }[],
  held: number,
  { source, target, sweep, maxMemory }: HierarchyPlanRequest,
): void {
  const needs = choices.map(({ job, choice }) => ({
    path: job.source.path,
    wayOut: smallerChunks(choice.sides, job.target.metadata.dimensionNames),
    ...choice,
  }));
  const start = {
    path: source.path,
    leastBytes: sweep ? copyMemory(2, 1, writerMemory(target.store)) : 0,
    collectsShards: false,
    wayOut: "choose smaller chunks",
  };
  const most = needs.reduce((soFar, need) => (need.leastBytes > soFar.leastBytes ? need : soFar), start);
  const wayOut = most.collectsShards ? "choose smaller shards, or an index_location of end" : most.wayOut;
  assertBudget(most.leastBytes + held, maxMemory, most.path, wayOut);
}

/**
 * A node of which something changes, as the target's format stores it: in another format with its usual chunk keys,
 * unless a convention wants others.
 */
function inFormat(
  metadata: NodeMetadata,
  { metadata: before, layout }: SourceNode,
  to: FormatDefinition,
): NodeMetadata {
  if (metadata.kind === "group" || before.kind === "group") return metadata;
  const hasOldKeys = layout.zarrFormat !== to.name && metadata.chunkKeyEncoding === before.chunkKeyEncoding;
  const keyed = hasOldKeys ? { ...metadata, chunkKeyEncoding: FORMAT_DEFAULTS[to.name].keys } : metadata;
  return to.adopt?.(keyed) ?? keyed;
}

function consolidatedTargets({ changed, consolidated, source, target }: HierarchyPlanRequest): string[] {
  if (!changed) return [];
  const paths = consolidated.map((path) => targetPath(path, source.path, target.path));
  return paths.sort((a, b) => depthOf(b) - depthOf(a));
}
