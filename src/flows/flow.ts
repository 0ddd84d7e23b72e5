import { hasConsolidated } from "../hierarchy/consolidated.ts";
import { hierarchyAround, publishedIn } from "../hierarchy/hierarchy-around.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../hierarchy/node.ts";
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
import { planHierarchy } from "./plan/hierarchy-plan.ts";
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

/** A source that is open, and the plan of what is done with it, once. */
export interface Planned {
  readonly source: Store;
  readonly plan: Plan;
  /** Closes the source if planning opened it; `runFlow` does so when it ends. */
  close(): Promise<void>;
}

/** Opens the source and plans what is done with all below it. */
export async function planFlow(
  operation: Plan["operation"],
  from: FlowSource,
  to: string,
  options: PlanOptions & Changes,
): Promise<Planned> {
  const { root, close } = await openSource(from, options);
  try {
    return { source: root.store, plan: await planFrom(operation, root, to, options), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function planFrom(
  operation: Plan["operation"],
  root: ZarrArray | ZarrGroup,
  to: string,
  options: PlanOptions & Changes,
): Promise<Plan> {
  const { signal, allowLoss } = options;
  const nodes: ZarrNode[] = [root];
  if (root.kind === "group") for await (const node of walk(root, { signal })) nodes.push(node);
  const target = targetSpec(to);
  await assertApart(root.spec, target.store);
  const dialect = dialectNamed(options.to ?? root.layout.dialect);
  await hierarchyAround(target.store, dialect.name, { signal });
  const change = changeOf(options, root, nodes);
  const changed =
    dialect.name !== root.layout.dialect ||
    root.reading.v2?.separator === "/" ||
    nodes.some(({ path, metadata }) => metadata.kind === "array" && change(path, metadata) !== undefined);
  return planHierarchy({
    operation,
    source: {
      store: root.spec,
      path: root.path,
      ...(Object.keys(root.reading).length > 0 && { reading: root.reading }),
    },
    target,
    nodes,
    dialect,
    change,
    ...(allowLoss && { allowLoss }),
    sweep: isListable(root.store) && options.slice === undefined,
    changed,
    consolidated:
      changed || nodes.some((node) => node.consolidated) ? await consolidatedGroups(nodes, signal) : [],
    maxMemory: parseBytes(options.maxMemory ?? DEFAULT_MAX_MEMORY),
    io: positive(options.io ?? DEFAULT_IO, "io"),
  });
}

/** Paths of the groups that have consolidated metadata. */
async function consolidatedGroups(
  nodes: readonly ZarrNode[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const paths: string[] = [];
  for (const node of nodes) {
    if (node.kind === "group" && (await hasConsolidated(node, signal))) paths.push(node.path);
  }
  return paths;
}

/** Runs what was planned, and closes it. */
export async function runFlow(planned: Planned, options: RunOptions): Promise<RunReport> {
  const { source, plan } = planned;
  try {
    options.onEvent?.({ type: "plan", plan });
    options.signal?.throwIfAborted();
    const { dialect } = plan.publication;
    const home = await hierarchyAround(plan.target.store, dialect, options);
    const build = await openBuild(plan.target, options);
    const published = build && home ? publishedIn(home, dialect, build) : build;
    if (published) return await runPlan(plan, { source, build: published, ...options });
    options.onEvent?.({ type: "done", report: NOTHING_DONE });
    return NOTHING_DONE;
  } finally {
    await planned.close();
  }
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

/** The array itself, or all arrays below a group, with their paths below it; of use until the next is asked for. */
export async function* arraysBelow(
  source: FlowSource,
  { signal }: PlanOptions,
): AsyncGenerator<{ array: ZarrArray; path: string }> {
  const { root, close } = await openSource(source, { signal });
  try {
    if (root.kind === "array") yield { array: root, path: "" };
    else {
      for await (const node of walk(root, { signal })) {
        if (node.kind === "array")
          yield { array: node, path: node.path.slice(root.path.length).replace(/^\//, "") };
      }
    }
  } finally {
    await close();
  }
}

/** The node that a source is or names; `close` closes its store where this has opened it. */
export async function openSource(
  source: FlowSource,
  { signal }: PlanOptions,
): Promise<{ readonly root: ZarrArray | ZarrGroup; readonly close: () => Promise<void> }> {
  if (typeof source !== "string") return { root: source, close: async () => {} };
  const root = await open(source, { signal });
  return { root, close: async () => root.store.close?.() };
}
