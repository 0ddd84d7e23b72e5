import { hasConsolidated } from "../hierarchy/consolidated.ts";
import type { ZarrArray, ZarrGroup } from "../hierarchy/node.ts";
import { open } from "../hierarchy/open.ts";
import { openNode } from "../hierarchy/open-node.ts";
import { assertReplaceable } from "../hierarchy/replaceable.ts";
import { walk } from "../hierarchy/walk.ts";
import { dialectNamed } from "../meta/dialects.ts";
import { isListable, type Store, type StoreSpec, type TargetBuild } from "../stores/store.ts";
import { openTargetBuild } from "../stores/target.ts";
import { openStore, parseStoreUrl } from "../stores/url.ts";
import { parseBytes } from "../util/byte-size.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { type Changes, changeOf } from "./changes.ts";
import type { FlowEvent, RunReport } from "./events.ts";
import { planHierarchy, type SourceNode } from "./plan/hierarchy-plan.ts";
import type { NodeSpec, Plan } from "./plan/plan.ts";
import { runPlan } from "./run-plan.ts";
import { assertApart } from "./target-apart.node.ts";

/** What a flow reads: a URL, or a node that was opened. */
export type FlowSource = string | ZarrArray | ZarrGroup;

export interface PlanOptions {
  /** Bytes that all buffers together may take, as a number or as `256MB`; 256 MB by default. */
  readonly maxMemory?: number | string;
  /** Requests in flight, for each store; 16 by default. */
  readonly io?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface RunOptions extends PlanOptions {
  /**
   * What to do when there is something at the target; `error` by default. `skip` leaves a Zarr that is there as it is,
   * and does nothing.
   */
  readonly ifExists?: "error" | "skip" | "replace";
  /** Reads every key back and compares it before the target is published. */
  readonly verify?: boolean;
  /** Writes chunks that hold nothing but the fill value too. */
  readonly writeEmpty?: boolean;
  readonly onEvent?: (event: FlowEvent) => void;
}

export const DEFAULT_MAX_MEMORY = 256e6;
export const DEFAULT_IO = 16;

/** A source that is open, and the plan of what is done with it. */
export interface Planned {
  readonly source: Store;
  readonly plan: Plan;
}

/** Opens the source and plans what is done with all below it. */
export async function planFlow(
  operation: Plan["operation"],
  from: FlowSource,
  to: string,
  options: PlanOptions & Changes,
): Promise<Planned> {
  const { signal, allowLoss } = options;
  const root = typeof from === "string" ? await open(from, { signal }) : from;
  const nodes: SourceNode[] = [root];
  if (root.kind === "group") for await (const node of walk(root, { signal })) nodes.push(node);
  const target = targetSpec(to);
  await assertApart(root.spec, target.store);
  const dialect = dialectNamed(options.to ?? root.layout.dialect);
  const change = changeOf(options, root, nodes);
  const changed =
    dialect.name !== root.layout.dialect ||
    nodes.some(({ path, metadata }) => metadata.kind === "array" && change(path, metadata) !== undefined);
  const plan = await planHierarchy({
    operation,
    source: { store: root.spec, path: root.path },
    target,
    nodes,
    dialect,
    change,
    ...(allowLoss && { allowLoss }),
    sweep: isListable(root.store),
    consolidate: root.kind === "group" && changed && (await hasConsolidated(root, signal)),
    maxMemory: parseBytes(options.maxMemory ?? DEFAULT_MAX_MEMORY),
    io: positive(options.io ?? DEFAULT_IO, "io"),
  });
  return { source: root.store, plan };
}

/** Runs what was planned. */
export async function runFlow({ source, plan }: Planned, options: RunOptions): Promise<RunReport> {
  options.onEvent?.({ type: "plan", plan });
  options.signal?.throwIfAborted();
  const build = await openBuild(plan.target, options);
  if (build) return runPlan(plan, { source, build, ...options });
  options.onEvent?.({ type: "done", report: NOTHING_DONE });
  return NOTHING_DONE;
}

const NOTHING_DONE: RunReport = {
  tasks: 0,
  chunksRead: 0,
  chunksWritten: 0,
  bytesRead: 0,
  bytesWritten: 0,
  seconds: 0,
  keysWritten: 0,
  peakBuffers: 0,
  skipped: true,
};

/** Begins to build the target; undefined when it is there and may be skipped. */
async function openBuild(
  target: NodeSpec,
  { ifExists = "error", signal }: RunOptions,
): Promise<TargetBuild | undefined> {
  if (ifExists === "replace") await assertReplaceable(target);
  try {
    return await openTargetBuild(target.store, { ifExists: ifExists === "replace" ? "replace" : "error" });
  } catch (error) {
    const isThere = ifExists === "skip" && isZarrflowError(error, "target-exists");
    if (isThere && (await hasNode(target, signal))) return undefined;
    throw error;
  }
}

/** Whether the node that a target names is there. */
async function hasNode({ store: spec, path }: NodeSpec, signal: AbortSignal | undefined): Promise<boolean> {
  const store = await openStore(spec, { signal });
  try {
    return (await openNode(store, path, { signal })) !== undefined;
  } finally {
    await store.close?.();
  }
}

function targetSpec(url: string): NodeSpec {
  const { spec, path } = parseStoreUrl(url);
  return { store: spec satisfies StoreSpec, path };
}

function positive(value: number, name: string): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new ZarrflowError("invalid-option", `${name} must be a whole number, 1 or more`, { found: value });
}

/** The array itself, or all arrays below a group, with their paths below it. */
export async function* arraysBelow(
  source: FlowSource,
  { signal }: PlanOptions,
): AsyncGenerator<{ array: ZarrArray; path: string }> {
  const root = typeof source === "string" ? await open(source, { signal }) : source;
  if (root.kind === "array") {
    yield { array: root, path: "" };
    return;
  }
  for await (const node of walk(root, { signal })) {
    if (node.kind === "array")
      yield { array: node, path: node.path.slice(root.path.length).replace(/^\//, "") };
  }
}
