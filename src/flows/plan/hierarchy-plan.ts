import type { ArrayMetadata, DialectName, NodeMetadata } from "../../meta/array-metadata.ts";
import type { Dialect, NodeLayout } from "../../meta/dialect.ts";
import { USUAL_ARRAY } from "../../meta/usual-array.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { writerMemory } from "../../stores/writer-memory.ts";
import { type Selection, wholeSelection } from "../../streams/selection.ts";
import { jsonEqual } from "../../util/json-equal.ts";
import { parseJson } from "../../util/json-parse.ts";
import { copyMemory } from "../copy-value.ts";
import { isLocal } from "../executors/local-stores.ts";
import { chooseJob, type JobChoice, type JobRequest, jobOfChoice } from "./array-job.ts";
import { heldByStores } from "./expected-size.ts";
import type { ArrayJob, NodeSpec, Plan, PlannedDocument } from "./plan.ts";
import { missingAncestors, sharedDocuments } from "./surrounding-documents.ts";
import { demandDistinctNames, targetPath } from "./target-path.ts";
import { demandBudget } from "./task-memory.ts";
import { largestTask, totalsOf } from "./totals.ts";

/** A node of the source as it was opened. */
export interface SourceNode {
  readonly path: string;
  readonly metadata: NodeMetadata;
  readonly layout: NodeLayout;
  /** Its documents that exist, by key. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** Given where consolidated metadata alone hold its documents. */
  readonly consolidated?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** What becomes of an array: its new metadata, and the part of it that is taken. */
export interface Change {
  readonly metadata: ArrayMetadata;
  readonly selection?: Selection;
}

export interface HierarchyPlanRequest {
  readonly operation: Plan["operation"];
  readonly source: NodeSpec;
  readonly target: NodeSpec;
  /** The root first; then all nodes below it. */
  readonly nodes: readonly SourceNode[];
  readonly dialect: Dialect;
  /** What is to become of an array; undefined: it stays as it is. */
  readonly change: (path: string, metadata: ArrayMetadata) => Change | undefined;
  /** JSON pointers of what the dialect may drop. */
  readonly allowLoss?: readonly string[];
  /** Whether the source's listing is swept for keys that no task and no document covers. */
  readonly sweep: boolean;
  /** Whether any document changes; else consolidated metadata stay true and are swept with the rest. */
  readonly changed: boolean;
  /** Paths of the source's groups that have consolidated metadata, so that the target's get them too. */
  readonly consolidated: readonly string[];
  readonly maxMemory: number;
  readonly io: number;
  /** Threads that run tasks; 1 by default. */
  readonly threads?: number;
  /** Why all tasks run in the thread that begins the run, where they must. */
  readonly inline?: string | undefined;
  /** Where scratch objects go, if there are any. */
  readonly scratch?: StoreSpec | undefined;
  /** The strategy for arrays whose grid changes; the cheaper one by default. */
  readonly strategy?: "direct" | "shuffle" | undefined;
}

const ENCODERS = "zarrflow/0.1";

/** One thread gains nothing from more tasks at once than it takes to overlap codecs with input and output. */
const TASKS_AT_ONCE = 3;

/**
 * Plans a node and all below it: a job an array, and what is published in the end. Pure: nothing is read or
 * written.
 *
 * @throws `budget-too-small`, `unsupported-codec`, `loss-refused`.
 */
export async function planHierarchy(request: HierarchyPlanRequest): Promise<Plan> {
  const { nodes, source, target, dialect, maxMemory, io, threads = 1, inline } = request;
  const writerBytes = writerMemory(target.store);
  const inTurn = inline === undefined && isLocal(source.store) && isLocal(target.store);
  const tasksAtOnce = inTurn ? threads : Math.max(threads, TASKS_AT_ONCE);
  const choices: { readonly job: JobRequest; readonly choice: JobChoice }[] = [];
  const documents: { depth: number; group: boolean; documents: readonly PlannedDocument[] }[] = [];
  demandDistinctNames(
    nodes.map(({ path }) => targetPath(path, source.path, target.path)),
    dialect,
  );
  for (const node of nodes) {
    const path = targetPath(node.path, source.path, target.path);
    const layout = dialect.layout(path);
    const change = node.metadata.kind === "array" ? request.change(node.path, node.metadata) : undefined;
    const metadata =
      change || node.layout.dialect !== dialect.name
        ? inDialect(change?.metadata ?? node.metadata, node.layout.dialect, dialect)
        : node.metadata;
    if (node.metadata.kind === "array" && metadata.kind === "array") {
      const job = {
        source: { path: node.path, dialect: node.layout.dialect, metadata: node.metadata },
        target: { path, dialect: dialect.name, metadata },
        selection: change?.selection ?? wholeSelection(metadata.shape),
        maxMemory,
        // Who goes through chunks in turn has one at a time.
        io: inTurn ? 1 : io,
        writerBytes,
        swept: request.sweep,
        threads,
        tasksAtOnce,
        inTurn,
        remote: {
          source: isRemote(source.store),
          target: isRemote(target.store),
          scratch: request.scratch !== undefined && isRemote(request.scratch),
        },
        recutBy: request.strategy,
      };
      choices.push({ job, choice: await chooseJob(job) });
    }
    const unchanged =
      change === undefined && node.layout.dialect === dialect.name && !statesSeparator(node, request);
    documents.push({
      depth: depthOf(path),
      group: metadata.kind === "group",
      documents: unchanged ? kept(node, layout, request) : written(node, metadata, request, layout),
    });
  }
  const sides = choices.map(({ choice }) => choice.sides);
  const held = heldByStores(request, sides, maxMemory);
  demandMost(choices, held, request);
  const jobs: ArrayJob[] = [];
  const stages: number[] = [];
  for (const { job, choice } of choices) {
    const planned = jobOfChoice({ ...job, maxMemory: maxMemory - held }, choice, stages);
    for (const [stage, { tasks }] of [...(planned.rounds ?? []), planned].entries()) {
      stages[stage] = (stages[stage] ?? 0) + tasks;
    }
    jobs.push(planned);
  }
  const from = nodes[0]?.layout.dialect ?? dialect.name;
  const ancestors = missingAncestors(target.path, dialect);
  return {
    format: "zarrflow-plan/1",
    operation: request.operation,
    source,
    target,
    ...(request.scratch && { scratch: request.scratch }),
    budget: {
      maxMemory,
      cacheBytes: 0,
      taskBytes: largestTask(jobs),
      tasksAtOnce,
      threads,
      ...(inline && { inline }),
      io,
    },
    jobs,
    stages,
    publication: {
      dialect: dialect.name,
      from,
      documents: [...sharedDocuments(from, dialect), ...inPublishingOrder(documents), ...ancestors],
      consolidate: consolidatedTargets(request),
      sweep: request.sweep,
    },
    totals: totalsOf(jobs, stages, held, { ...request, tasksAtOnce }),
    encoders: ENCODERS,
  };
}

/** Whether a store is over a network. */
function isRemote(spec: StoreSpec): boolean {
  return spec.kind === "zip-value" ? isRemote(spec.store) : spec.kind === "http" || spec.kind === "s3";
}

/** Whether a copy of the node must state the separator that its reader had to be told. @see V2-81 */
function statesSeparator({ metadata }: SourceNode, { source }: HierarchyPlanRequest): boolean {
  return metadata.kind === "array" && source.reading?.v2?.separator === "/";
}

/** @throws `budget-too-small` for the array that needs the most: with what it needs, all others can be done. */
function demandMost(
  choices: readonly { readonly job: JobRequest; readonly choice: JobChoice }[],
  held: number,
  { source, target, sweep, maxMemory }: HierarchyPlanRequest,
): void {
  const needs = choices.map(({ job, choice }) => ({ path: job.source.path, ...choice }));
  const start = {
    path: source.path,
    leastBytes: sweep ? copyMemory(2, 1, writerMemory(target.store)) : 0,
    collectsShards: false,
  };
  const most = needs.reduce((soFar, need) => (need.leastBytes > soFar.leastBytes ? need : soFar), start);
  const wayOut = most.collectsShards ? "smaller shards, or an index_location of end" : "smaller chunks";
  demandBudget(most.leastBytes + held, maxMemory, most.path, wayOut);
}

/** A node of which something changes, as the target's dialect stores it. */
function inDialect(metadata: NodeMetadata, from: DialectName, to: Dialect): NodeMetadata {
  if (metadata.kind === "group") return metadata;
  const keyed = from === to.name ? metadata : { ...metadata, chunkKeyEncoding: USUAL_ARRAY[to.name].keys };
  return to.adopt?.(keyed) ?? keyed;
}

/** The node's documents as they are, under the target's keys. */
function copied(node: SourceNode, layout: NodeLayout): { readonly key: string; readonly from: string }[] {
  return node.layout.documentKeys.flatMap((from, i) => {
    const key = layout.documentKeys[i];
    return node.documents.has(from) && key !== undefined ? [{ key, from }] : [];
  });
}

/** The node's documents as they are; where consolidated metadata alone hold them, and are swept, none. */
function kept(
  node: SourceNode,
  layout: NodeLayout,
  { sweep, changed, consolidated }: HierarchyPlanRequest,
): readonly PlannedDocument[] {
  if (node.consolidated === undefined) return copied(node, layout);
  if (sweep && !changed && consolidated.some((group) => isAtOrAbove(group, node.path))) return [];
  const decoder = new TextDecoder();
  return copied(node, layout).map(({ key, from }) => ({
    key,
    text: decoder.decode(node.documents.get(from)),
  }));
}

function isAtOrAbove(group: string, path: string): boolean {
  return group === "" || group === path || path.startsWith(`${group}/`);
}

function consolidatedTargets({ changed, consolidated, source, target }: HierarchyPlanRequest): string[] {
  if (!changed) return [];
  const paths = consolidated.map((path) => targetPath(path, source.path, target.path));
  return paths.sort((a, b) => depthOf(b) - depthOf(a));
}

function depthOf(path: string): number {
  return path === "" ? 0 : path.split("/").length;
}

/** New documents; one that says what the source's says is copied instead, byte for byte. */
function written(
  node: SourceNode,
  metadata: NodeMetadata,
  { dialect, allowLoss }: HierarchyPlanRequest,
  layout: NodeLayout,
): PlannedDocument[] {
  const decoder = new TextDecoder();
  const before = node.consolidated ? [] : copied(node, layout);
  const kept = keepsAttributes(node, metadata, layout);
  const attributes = before.filter(({ key }) => kept && key === layout.attributesKey);
  const rest = attributes.length > 0 ? withoutAttributes(metadata) : metadata;
  const isWritten = ([key]: readonly [string, Uint8Array]) =>
    !attributes.some((copied) => copied.key === key);
  const documents = [...dialect.write(rest, layout, { allowLoss })].filter(isWritten).map(([key, bytes]) => {
    const same = before.find((document) => document.key === key);
    const old = same && node.documents.get(same.from);
    return same && old && sameDocument(old, bytes) ? same : { key, text: decoder.decode(bytes) };
  });
  return [...attributes, ...documents];
}

/** Whether the attributes are what they were: then their document is copied, whatever is in it. */
function keepsAttributes(node: SourceNode, metadata: NodeMetadata, layout: NodeLayout): boolean {
  return (
    node.layout.dialect === layout.dialect &&
    metadata.attributes === node.metadata.attributes &&
    dimensionNamesOf(metadata) === dimensionNamesOf(node.metadata)
  );
}

function dimensionNamesOf(metadata: NodeMetadata): ArrayMetadata["dimensionNames"] {
  return metadata.kind === "array" ? metadata.dimensionNames : undefined;
}

function withoutAttributes(metadata: NodeMetadata): NodeMetadata {
  if (metadata.kind === "group") return { ...metadata, attributes: {} };
  const { dimensionNames: _, ...rest } = metadata;
  return { ...rest, attributes: {} };
}

function sameDocument(a: Uint8Array, b: Uint8Array): boolean {
  const parse = (bytes: Uint8Array) => parseJson(bytes, { allowNonFinite: () => true });
  return jsonEqual(parse(a), parse(b));
}

/** Arrays first, then groups from the deepest up: nothing is named before it is there. */
function inPublishingOrder(
  nodes: readonly { depth: number; group: boolean; documents: readonly PlannedDocument[] }[],
): PlannedDocument[] {
  return [...nodes]
    .sort((a, b) => Number(a.group) - Number(b.group) || b.depth - a.depth)
    .flatMap(({ documents }) => documents);
}
