import type { ZarrArray, ZarrGroup } from "../../hierarchy/node.ts";
import { closeOpened, type OpenSource, open } from "../../hierarchy/open/open.ts";
import { assertGridStrategy } from "../../hierarchy/read-options.ts";
import { hasLabels, hasPoints } from "../../hierarchy/slice-option.ts";
import { formatNamed } from "../../meta/formats.ts";
import { needsSeparator, otherFormatsLeftOut } from "../../plan/documents.ts";
import { planHierarchy } from "../../plan/hierarchy-plan.ts";
import type { NodeSpec, Plan, PlanPace, StoreProfiles } from "../../plan/plan.ts";
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
import { DEFAULT_MAX_MEMORY } from "../../streams/byte-budget.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { textHash } from "../../util/hash.ts";
import { belowPath } from "../../util/node-path.ts";
import { checkedOptions } from "../../util/options.ts";
import { isMemoryShared } from "../../util/pause.ts";
import { parseBytes } from "../../util/units.ts";
import { existingNodes, filterPlan } from "../target/filter-plan.ts";
import { assertApart, type FlowTarget, targetSpec, withFormatOf } from "../target/flow-target.ts";
import { TargetProbe } from "../target/target-probe.ts";
import { askedSlice } from "./asked-slice.ts";
import { type Changes, changesAnything } from "./changes.ts";
import { readingWarnings } from "./chunk-separators.ts";
import { PLANNING_OPTIONS, type PlanningOptions } from "./flow-options.ts";
import type { TakenItems } from "./labels/found-labels.ts";
import { missingChunks } from "./missing-chunks.ts";
import { copiedNodes, copiedWarning, undecodableOf } from "./not-known.ts";
import { type OpenedSource, openSource } from "./open-source.ts";
import { plannedEffects } from "./option-effects.ts";
import { hasOtherFormat, otherFormatOf } from "./other-formats.ts";
import { settingsOf } from "./settings.ts";
import type { SlicedArray } from "./sliced-array.ts";
import { consolidatedGroups, type SourceNodesOptions, sourceNodes, wantedMetadata } from "./source-nodes.ts";
import { concurrencyOf, largestChunk, pacedAccess, profilesOf, usualConcurrency } from "./store-settings.ts";

/** An open source and a plan that can be run once. */
export interface PlannedFlow extends ResumablePlan {
  readonly source: Store;
  /** The options of planning, which also apply to the run. */
  readonly options: PlanningOptions;
  /** The state of the target and its surroundings. */
  readonly probe: TargetProbe;
  /**
   * The items that a slice takes of each dimension that it names; empty without a slice. Reads coordinates that
   * were not read before, so call it before `close`.
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
      const planning = { ...asked, isPlain, sliced, notKnown };
      const { watch, ...planned } = await planFrom(operation, readRoot, { target, probe }, planning);
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
  const hint = "The target exists, and the source does not: are the two swapped?";
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
      hint: "Slice the group that the array is in, or omit --include.",
    });
  }
  if (!companions) return undefined;
  const { slicedArray } = await import("./sliced-array.ts");
  return slicedArray(array, options);
}

async function planFrom(
  operation: Plan["operation"],
  root: ZarrArray | ZarrGroup,
  { target, probe }: { readonly target: NodeSpec; readonly probe: TargetProbe },
  options: PlanningOptions & Pick<SourceNodesOptions, "isPlain" | "sliced"> & Pick<OpenedSource, "notKnown">,
): Promise<Omit<PlannedFlow, "source" | "options" | "probe" | "close"> & { readonly watch: SourceWatch }> {
  const { signal, maxMetadata, allowLoss, keepFormats = false } = options;
  const concurrency = usualConcurrency(options.concurrency, root.spec, target.store);
  const zarrFormat = formatNamed(options.to ?? root.layout.zarrFormat);
  const isConverted = zarrFormat.name !== root.layout.zarrFormat;
  const areDocumentsNew = isConverted || changesAnything(options);
  const takesKeys = isListable(root.store) && options.slice === undefined;
  const copiesNotKnown = takesKeys && !isConverted;
  const reading = sourceNodes(root, { ...options, areDocumentsNew, copiesNotKnown, takesKeys, concurrency });
  const placing = probe.hierarchy(zarrFormat.name, { maxMetadata, signal });
  await Promise.allSettled([reading, placing]);
  const { all, taken, companions, excluded, notKnown, warnings, ...found } = await reading;
  const scratch = parseScratch(options.scratch, pacedAccess(options));
  for (const place of options.sliced?.places ?? [root]) await assertApart(place, target.store);
  await placing;
  const asked = options.sliced?.array ?? root;
  const wanted = await wantedMetadata({ root, asked, all, taken, excluded }, zarrFormat.name, options);
  const { converted, kept, conversions, takenItems } = wanted;
  const arrays = copiesNotKnown ? taken.filter((node) => node.kind === "array") : [];
  const left = await undecodableOf(arrays, { concurrency, signal });
  // arrays of a group that cannot be decoded are copied unchanged; for a single array, the change fails with an
  // error
  const change: typeof wanted.change = (path, metadata) =>
    root.kind === "group" && left.has(path) ? undefined : wanted.change(path, metadata);
  const changed =
    excluded.length > 0 ||
    taken.length < all.length ||
    isConverted ||
    taken.some(needsSeparator) ||
    taken.some(({ path, metadata }) => metadata.kind === "array" && change(path, metadata) !== undefined);
  const keptFormat =
    keepFormats && changed
      ? await otherFormatOf(root, taken, { isConverted, concurrency, signal })
      : undefined;
  const leavesFormat = changed && !keepFormats && taken.some(hasOtherFormat);
  const existing = await existingNodes(target, zarrFormat.name, options);
  const nodes = taken.filter(({ path }) => !existing?.isLeft(targetPath(path, root.path, target.path)));
  const watch = await SourceWatch.begin(nodes, [root.store], {
    isShared: options.sliced !== undefined,
    signal,
  });
  const missing = await missingChunks({
    nodes,
    converted: converted.metadata,
    change,
    to: zarrFormat.name,
    allowLoss,
    concurrency,
    signal,
  });
  const maxMemory = parseBytes(options.maxMemory ?? DEFAULT_MAX_MEMORY);
  const stores = [root.spec, target.store];
  const inFlight = concurrencyOf({
    concurrency: options.concurrency,
    stores,
    maxMemory,
    chunkBytes: largestChunk(nodes),
  });
  const planned = new Set(nodes.map(({ path }) => path));
  const areConsolidatedWritten = changed || nodes.some((node) => node.consolidated);
  const hasFunction = [...conversions.values()].some(
    ({ reading: { planned } = {} }) => planned?.map && "function" in planned.map,
  );
  const threads = await threading(root, target, scratch, { ...options, hasFunction });
  const pace = { maxMemory, ...inFlight, ...threads };
  const request: HierarchyPlanRequest = {
    operation,
    source: {
      store: root.spec,
      path: root.path,
      ...(Object.keys(root.reading).length > 0 && { reading: root.reading }),
    },
    target,
    nodes,
    copied: await copiedNodes([...notKnown, ...(options.notKnown ? [root] : [])], root, {
      concurrency,
      signal,
    }),
    zarrFormat,
    converted: {
      metadata: converted.metadata,
      warnings: [
        ...[...warnings, ...converted.warnings, ...readingWarnings(taken, root)],
        ...(leavesFormat ? [otherFormatsLeftOut] : []),
        ...(options.notKnown ? [copiedWarning("", options.notKnown)] : []),
        ...[...left].map(([path, error]) => copiedWarning(belowPath(root.path, path), error)),
      ],
    },
    missing,
    change,
    ...(allowLoss && { allowLoss }),
    keptFormat,
    copyKeys: takesKeys,
    changed,
    consolidated: areConsolidatedWritten
      ? (found.consolidated ?? (await consolidatedGroups(nodes, { concurrency, signal }))).filter((path) =>
          planned.has(path),
        )
      : [],
    ...pace,
    scratch,
    strategy: possibleStrategy(options.strategy, scratch),
  };
  const { include, exclude } = options;
  const leftOut = [...excluded, ...all.flatMap(({ path }) => (planned.has(path) ? [] : [path]))];
  const planWith = async (profiles: StoreProfiles, other: PlanPace = pace): Promise<Plan> => {
    const filtered = filterPlan(await planHierarchy({ ...request, ...other, profiles }), {
      filter: {
        ...(include && { include }),
        ...(exclude && { exclude }),
        ...(companions.length > 0 && { companions }),
      },
      leftOut,
      existing,
      ifExists: options.ifExists,
      nodes: all,
    });
    return { ...filtered, ...(kept.length > 0 && { chunksKept: kept }) };
  };
  const places = { source: root.spec, target: target.store, scratch };
  const plan = await planWith(profilesOf(places, options.storeProfile));
  const { singleThreadReason } = threads;
  const known = {
    options,
    plan,
    root: asked,
    taken,
    source: root.spec,
    scratch,
    hasLabels: options.slice !== undefined && hasLabels(askedSlice(options.slice, {})),
    hasPoints: options.slice !== undefined && hasPoints(askedSlice(options.slice, {})),
    singleThreadReason,
  };
  const effects = plannedEffects(known);
  return {
    plan: { ...plan, warnings: [...effects, ...plan.warnings] },
    planWith,
    pace,
    settings: settingsOf(options, { operation, source: root, target, conversions }),
    taken: takenItems,
    watch,
    sourceDocuments: () => textHash(JSON.stringify(watch.states())),
    documentStates: () => watch.states(),
    sourceDocument: (key) => watch.document(root.store, key),
    assertUnchanged: (how = {}) => watch.assertUnchanged({ ...how, concurrency: inFlight.concurrency }),
  };
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
