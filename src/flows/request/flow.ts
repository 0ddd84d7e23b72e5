import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { closeOpened, type OpenSource, open } from "../../hierarchy/open/open.ts";
import { askedSlice } from "../../hierarchy/parse-slice.ts";
import { assertGridStrategy } from "../../hierarchy/read-options.ts";
import { hasLabels, hasPoints } from "../../hierarchy/slice-option.ts";
import { formatNamed } from "../../meta/formats.ts";
import { needsSeparator, otherFormatsLeftOut } from "../../plan/documents.ts";
import { planHierarchy } from "../../plan/hierarchy-plan.ts";
import type { NodeSpec, NodeWarning, Plan, PlanPace, StoreProfiles } from "../../plan/plan.ts";
import { type HierarchyPlanRequest, targetPath } from "../../plan/request.ts";
import { withRetryEvents } from "../../run/events.ts";
import type { ResumablePlan } from "../../run/run-identity.ts";
import { possibleStrategy } from "../../run/scratch/open-scratch.ts";
import { parseScratch } from "../../run/scratch/scratch.ts";
import { SourceWatch } from "../../run/source-watch.ts";
import { coresAvailable, singleThreadReason } from "../../run/threads/thread-count.ts";
import { assertPlace } from "../../stores/assertions.ts";
import { isListable, type Store, type StoreOptions, type StoreSpec } from "../../stores/store.ts";
import { specOf } from "../../stores/url.ts";
import { memoryLimit } from "../../streams/byte-budget.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { textHash } from "../../util/hash.ts";
import { belowPath } from "../../util/node-path.ts";
import { checkedOptions } from "../../util/options.ts";
import { isMemoryShared } from "../../util/pause.ts";
import { existingNodes, filterPlan } from "../target/filter-plan.ts";
import { assertApart, type FlowTarget, targetSpec, withFormatOf } from "../target/flow-target.ts";
import { TargetProbe } from "../target/target-probe.ts";
import { changesAnything } from "./changes.ts";
import { type Changes, PLANNING_OPTIONS, type PlanningOptions, settingsOf } from "./flow-options.ts";
import type { TakenItems } from "./labels/found-labels.ts";
import { missingChunks } from "./missing-chunks.ts";
import {
  copiedNodes,
  copiedWarning,
  hasOtherFormat,
  otherFormatOf,
  readingWarnings,
  undecodableOf,
} from "./node-findings.ts";
import { type OpenedSource, openSource } from "./open-source.ts";
import { plannedEffects } from "./option-effects.ts";
import type { SlicedArray } from "./sliced-array.ts";
import {
  consolidatedGroups,
  type SourceNodes,
  type SourceNodesOptions,
  sourceNodes,
} from "./source-nodes.ts";
import { profilesOf } from "./store-profiles.ts";
import { concurrencyOf, largestChunk, pacedAccess, usualConcurrency } from "./store-settings.ts";
import { wantedMetadata } from "./wanted-nodes.ts";

/** An open source and a plan that can be run once. */
export interface PlannedFlow extends ResumablePlan {
  readonly source: Store;
  /** The options of planning, which also apply to the run. */
  readonly options: PlanningOptions;
  /** The state of the target and its surroundings. */
  readonly probe: TargetProbe;
  /**
   * The items that a slice takes along each dimension that it names; empty without a slice. Reads coordinates that were
   * not read before, so call it before `close`.
   */
  readonly taken: () => Promise<readonly TakenItems[]>;
  /** Asserts that the source has not changed since it was planned for. @throws `source-changed` */
  assertUnchanged(options?: StoreOptions): Promise<void>;
  /** Returns a hash of the source's metadata documents as they were read. */
  readonly sourceDocuments: () => string;
  /** Returns the keys of these documents, with their sizes and CRC-32. */
  readonly documentStates: () => readonly (readonly [key: string, size: number, crc32: number])[];
  /**
   * Returns a metadata document of the source as it was read; undefined if it was not. Valid while
   * `assertUnchanged` holds.
   */
  readonly sourceDocument: (key: string) => Uint8Array | undefined;
  /** Closes the source if planning opened it; a run does so when it ends. */
  close(): Promise<void>;
}

/** Opens a source and plans a flow of all nodes below it. */
export async function planFlow(
  from: OpenSource,
  to: FlowTarget,
  given: PlanningOptions = {},
  { bringsCompanions = true }: { readonly bringsCompanions?: boolean } = {},
): Promise<PlannedFlow> {
  const { sel, ...checked } = checkedOptions(given, PLANNING_OPTIONS);
  const options = sel ? { ...checked, slice: askedSlice(checked.slice ?? {}, { sel }) } : checked;
  assertGridStrategy(options.strategy);
  assertPlace(from, "source");
  assertPlace(to, "target");
  const asked = withFormatOf(to, options);
  const operation = operationOf(asked);
  const mayBePlain = operation === "copy" && !changesAnything(asked);
  return withRetryEvents(options, async () => {
    const { ifExists = "error", signal } = asked;
    const target = targetSpec(to, pacedAccess(asked));
    const probe = new TargetProbe(target.store, { isNew: ifExists === "error", signal });
    let close = () => probe.end();
    try {
      const opening = openSource(from, asked, { mayBePlain });
      const opened = await opening.catch(async (error: unknown) => {
        if (ifExists === "error" && isZarrflowError(error, "not-found") && (await isZarr(target, signal)))
          throw swapped(error);
        throw error;
      });
      const { root, store, close: closeSource, isPlain, notKnown } = opened;
      close = () => Promise.all([closeSource(), probe.end()]).then(() => {});
      const isSlicedArray = operation === "slice" && root.kind === "array" && bringsCompanions;
      const sliced = isSlicedArray ? await sliceOf(root, asked) : undefined;
      const readRoot = sliced?.root ?? root;
      const flow = openFlow(operation, readRoot, target, { ...asked, isPlain, sliced, notKnown });
      const { watch, ...planned } = await planFrom(flow, probe);
      let closing: Promise<void> | undefined;
      const closeAll = () => {
        watch.end();
        closing ??= close();
        return closing;
      };
      const source = readRoot.store === root.store ? store : readRoot.store;
      return {
        source,
        probe,
        options: { ...checked, ...(sel && { sel }), signal },
        ...planned,
        close: closeAll,
      };
    } catch (error) {
      await close();
      throw error;
    }
  });
}

/** Adds a hint for a missing source with Zarr at the target: the two may be swapped. */
function swapped({ reason, details }: ZarrflowError): ZarrflowError {
  const hint = "The target exists but the source does not: did you swap them?";
  return new ZarrflowError("not-found", reason, {
    ...details,
    hint: [details.hint, hint].filter(Boolean).join(" "),
  });
}

/** True if an array or a group can be opened at a place. */
async function isZarr({ store, path }: NodeSpec, signal: AbortSignal | undefined): Promise<boolean> {
  if (store.kind === "object" || store.kind === "http") return false; // callers close their own stores; HTTP stores are read-only
  try {
    const place = { spec: store, path };
    await closeOpened(place, (await open(place, { signal })).store);
    return true;
  } catch {
    return false;
  }
}

/** Returns the name of the operation that makes these changes. */
function operationOf({ slice, chunks, shards, to }: Changes): Plan["operation"] {
  if (slice !== undefined) return "slice";
  if (chunks !== undefined || shards !== undefined) return "rechunk";
  return to === undefined ? "copy" : "convert";
}

/**
 * Returns a single sliced array with the arrays that describe it; undefined if its companions are not taken. @throws
 * `invalid-option`
 */
async function sliceOf(array: ZarrArray, options: PlanningOptions): Promise<SlicedArray | undefined> {
  const { include = [], companions = true } = options;
  if (include.length > 0) {
    throw new ZarrflowError("invalid-option", "`include` applies only to a slice of a group", {
      path: array.path,
      hint: "Slice the group that contains the array, or omit --include.",
    });
  }
  if (!companions) return undefined;
  const { slicedArray } = await import("./sliced-array.ts");
  return slicedArray(array, options);
}

type OpenFlowOptions = PlanningOptions &
  Pick<SourceNodesOptions, "isPlain" | "sliced"> &
  Pick<OpenedSource, "notKnown">;

/** Collects what is known about a flow once its source is open. */
function openFlow(
  operation: Plan["operation"],
  root: ZarrArray | ZarrGroup,
  target: NodeSpec,
  options: OpenFlowOptions,
) {
  const { signal } = options;
  const zarrFormat = formatNamed(options.to ?? root.layout.zarrFormat);
  const isConverted = zarrFormat.name !== root.layout.zarrFormat;
  const takesKeys = isListable(root.store) && options.slice === undefined;
  return {
    operation,
    root,
    /** The requested node: the root, or a sliced array in it. */
    asked: options.sliced?.array ?? root,
    target,
    scratch: parseScratch(options.scratch, pacedAccess(options)),
    zarrFormat,
    isConverted,
    /** True if keys that belong to no node are copied. */
    takesKeys,
    /** True if nodes that cannot be decoded are copied byte for byte. */
    copiesNotKnown: takesKeys && !isConverted,
    /** Options of requests for many nodes. */
    reading: { concurrency: usualConcurrency(options.concurrency, root.spec, target.store), signal },
    options,
  };
}

type OpenFlow = ReturnType<typeof openFlow>;

async function planFrom(
  flow: OpenFlow,
  probe: TargetProbe,
): Promise<Omit<PlannedFlow, "source" | "options" | "probe" | "close"> & { readonly watch: SourceWatch }> {
  const { operation, root, target, zarrFormat, options } = flow;
  const found = await readNodes(flow, probe);
  const wanted = await changesOf(flow, found);
  const existing = await existingNodes(target, zarrFormat.name, options);
  const nodes = found.taken.filter(({ path }) => !existing?.isLeft(targetPath(path, root.path, target.path)));
  const isShared = options.sliced !== undefined;
  const watch = await SourceWatch.begin(nodes, [root.store], { isShared, signal: options.signal });
  const request = await planRequest(flow, found, wanted, nodes);
  const pace = await paceOf(flow, nodes, wanted.conversions);

  const { include, exclude, ifExists } = options;
  const { all, companions, excluded } = found;
  const filter = {
    ...(include && { include }),
    ...(exclude && { exclude }),
    ...(companions.length > 0 && { companions }),
  };
  const planned = new Set(nodes.map(({ path }) => path));
  const leftOut = [...excluded, ...all.flatMap(({ path }) => (planned.has(path) ? [] : [path]))];
  const planWith = async (profiles: StoreProfiles, other: PlanPace = pace): Promise<Plan> => {
    const plan = await planHierarchy({ ...request, ...other, profiles });
    const filtered = filterPlan(plan, { filter, leftOut, existing, ifExists, nodes: all });
    return { ...filtered, ...(wanted.kept.length > 0 && { chunksKept: wanted.kept }) };
  };
  const places = { source: root.spec, target: target.store, scratch: flow.scratch };
  const plan = await planWith(profilesOf(places, options.storeProfile));
  return {
    plan: { ...plan, warnings: [...effectsOn(flow, plan, found, pace), ...plan.warnings] },
    planWith,
    pace,
    settings: settingsOf(options, { operation, source: root, target, conversions: wanted.conversions }),
    taken: wanted.takenItems,
    watch,
    sourceDocuments: () => textHash(JSON.stringify(watch.states())),
    documentStates: () => watch.states(),
    sourceDocument: (key) => watch.document(root.store, key),
    assertUnchanged: (how = {}) => watch.assertUnchanged({ ...how, concurrency: pace.concurrency }),
  };
}

/** Reads the nodes to take while the target's surroundings are read. @throws `target-exists` for a target in the source */
async function readNodes(flow: OpenFlow, probe: TargetProbe): Promise<SourceNodes> {
  const { root, target, zarrFormat, isConverted, takesKeys, copiesNotKnown, reading, options } = flow;
  const { maxMetadata, signal } = options;
  const areDocumentsNew = isConverted || changesAnything(options);
  const nodes = sourceNodes(root, { ...options, ...reading, areDocumentsNew, copiesNotKnown, takesKeys });
  const placing = probe.hierarchy(zarrFormat.name, { maxMetadata, signal });
  await Promise.allSettled([nodes, placing]);
  const found = await nodes;
  for (const place of options.sliced?.places ?? [root]) await assertApart(place, target.store);
  await placing;
  return found;
}

/** Finds the changes of the nodes to take, and what is known about them before they are planned. */
async function changesOf(flow: OpenFlow, found: SourceNodes) {
  const { root, asked, zarrFormat, isConverted, copiesNotKnown, reading, options } = flow;
  const { all, taken, excluded } = found;
  const wanted = await wantedMetadata({ root, asked, all, taken, excluded }, zarrFormat.name, options);
  const arrays = copiesNotKnown ? taken.filter((node) => node.kind === "array") : [];
  const left = await undecodableOf(arrays, reading);
  // Arrays of a group that cannot be decoded are copied unchanged; for a single array, the change fails with an error.
  const change: typeof wanted.change = (path, metadata) =>
    root.kind === "group" && left.has(path) ? undefined : wanted.change(path, metadata);
  const changed =
    excluded.length > 0 ||
    taken.length < all.length ||
    isConverted ||
    taken.some(needsSeparator) ||
    taken.some(({ path, metadata }) => metadata.kind === "array" && change(path, metadata) !== undefined);
  const keepsFormats = options.keepFormats && changed;
  const leavesFormat = !options.keepFormats && changed && taken.some(hasOtherFormat);
  return {
    ...wanted,
    change,
    changed,
    keptFormat: keepsFormats ? await otherFormatOf(root, taken, { isConverted, ...reading }) : undefined,
    warnings: [
      ...found.warnings,
      ...wanted.converted.warnings,
      ...readingWarnings(taken, root),
      ...(leavesFormat ? [otherFormatsLeftOut] : []),
      ...(options.notKnown ? [copiedWarning("", options.notKnown)] : []),
      ...[...left].map(([path, error]) => copiedWarning(belowPath(root.path, path), error)),
    ],
  };
}

type WantedChanges = Awaited<ReturnType<typeof changesOf>>;

/** @param nodes the nodes to take that the target does not have yet */
async function planRequest(
  flow: OpenFlow,
  found: SourceNodes,
  { converted, warnings, change, changed, keptFormat }: WantedChanges,
  nodes: readonly ZarrNode[],
): Promise<Omit<HierarchyPlanRequest, keyof PlanPace>> {
  const { operation, root, target, scratch, zarrFormat, takesKeys, reading, options } = flow;
  const { allowLoss, notKnown, strategy } = options;
  const { metadata } = converted;
  const to = zarrFormat.name;
  const missing = await missingChunks({ nodes, converted: metadata, change, to, allowLoss, ...reading });
  const areConsolidatedWritten = changed || nodes.some((node) => node.consolidated);
  const planned = new Set(nodes.map(({ path }) => path));
  return {
    operation,
    source: {
      store: root.spec,
      path: root.path,
      ...(Object.keys(root.reading).length > 0 && { reading: root.reading }),
    },
    target,
    nodes,
    copied: await copiedNodes([...found.notKnown, ...(notKnown ? [root] : [])], root, reading),
    zarrFormat,
    converted: { metadata, warnings },
    missing,
    change,
    ...(allowLoss && { allowLoss }),
    keptFormat,
    copyKeys: takesKeys,
    changed,
    consolidated: areConsolidatedWritten
      ? (found.consolidated ?? (await consolidatedGroups(nodes, reading))).filter((path) => planned.has(path))
      : [],
    scratch,
    strategy: possibleStrategy(strategy, scratch),
  };
}

/** The memory, requests and threads that the run may use. */
async function paceOf(
  { root, target, scratch, options }: OpenFlow,
  nodes: readonly ZarrNode[],
  conversions: WantedChanges["conversions"],
): Promise<PlanPace> {
  const maxMemory = memoryLimit(options);
  const stores = [root.spec, target.store];
  const chunkBytes = largestChunk(nodes);
  const inFlight = concurrencyOf({ concurrency: options.concurrency, stores, maxMemory, chunkBytes });
  const hasFunction = [...conversions.values()].some(
    ({ reading: { planned } = {} }) => planned?.map && "function" in planned.map,
  );
  const threads = await threading(root, target, scratch, { ...options, hasFunction });
  return { maxMemory, ...inFlight, ...threads };
}

/** Warns about options without effect. @throws `invalid-option` */
function effectsOn(
  { root, asked, scratch, options }: OpenFlow,
  plan: Plan,
  { taken }: SourceNodes,
  { singleThreadReason }: PlanPace,
): NodeWarning[] {
  const slice = options.slice === undefined ? undefined : askedSlice(options.slice, {});
  return plannedEffects({
    options,
    plan,
    root: asked,
    taken,
    source: root.spec,
    scratch,
    hasLabels: slice !== undefined && hasLabels(slice),
    hasPoints: slice !== undefined && hasPoints(slice),
    singleThreadReason,
  });
}

/** Decides how many threads run the tasks, and why only one does if more could. */
async function threading(
  root: ZarrArray | ZarrGroup,
  target: NodeSpec,
  scratch: StoreSpec | undefined,
  {
    threads,
    requestsPerSecond,
    bytesPerSecond,
    hasFunction,
  }: PlanningOptions & { readonly hasFunction: boolean },
): Promise<Pick<HierarchyPlanRequest, "threads" | "singleThreadReason" | "isMemoryShared">> {
  const wanted = threads === undefined ? undefined : positive(threads, "threads");
  const reason = singleThreadReason({
    source: specOf(root.store),
    target: target.store,
    scratch,
    hasFunction,
    isPaced: requestsPerSecond !== undefined || bytesPerSecond !== undefined,
  });
  if (reason !== undefined) return { threads: 1, singleThreadReason: reason };
  return { threads: wanted ?? (await coresAvailable()), isMemoryShared: isMemoryShared() };
}

function positive(value: number, name: string): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new ZarrflowError("invalid-option", `${name} must be a whole number, 1 or more`, { found: value });
}
