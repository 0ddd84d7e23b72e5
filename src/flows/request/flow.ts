import type { ZarrArray, ZarrGroup } from "../../hierarchy/node.ts";
import { formatNamed } from "../../meta/formats.ts";
import { assertPlace } from "../../stores/assertions.ts";
import { isListable, type Store, type StoreOptions, type StoreSpec } from "../../stores/store.ts";
import { specOf } from "../../stores/url.ts";
import { parseBytes } from "../../util/byte-size.ts";
import { checkedOptions, invalid, isObject, type OptionNames } from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { isMemoryShared } from "../../util/shared-memory.ts";
import { textHash } from "../../util/text-hash.ts";
import { EVENT_OPTIONS, type EventOptions, withRetryEvents } from "../events.ts";
import { planHierarchy } from "../plan/hierarchy-plan.ts";
import type { HierarchyPlanRequest } from "../plan/hierarchy-request.ts";
import type { NodeSpec, Plan } from "../plan/plan.ts";
import { needsSeparator } from "../plan/planned-documents.ts";
import type { StoreProfiles } from "../plan/store-profile.ts";
import { assertGridStrategy } from "../plan/strategies/grid-strategy.ts";
import { targetPath } from "../plan/target-path.ts";
import { coresAvailable, singleThreadReason } from "../run/executors/thread-count.ts";
import { parseScratch, possibleStrategy } from "../run/scratch/open-scratch.ts";
import { SourceWatch } from "../run/source-watch.ts";
import { existingNodes, filterPlan } from "../target/filter-plan.ts";
import { type FlowTarget, targetSpec, withFormatOf } from "../target/flow-target.ts";
import { assertApart } from "../target/target-apart.ts";
import { TargetProbe } from "../target/target-probe.ts";
import { CHANGES, type Changes, changesAnything } from "./changes.ts";
import { separatorWarnings } from "./chunk-separators.ts";
import { DEFAULT_MAX_MEMORY } from "./default-memory.ts";
import { KEY_FILTER, type KeyFilter } from "./key-filter.ts";
import type { FoundLabels } from "./labels/found-labels.ts";
import { missingChunks } from "./missing-chunks.ts";
import { type FlowSource, openSource } from "./open-source.ts";
import { pacedAccess } from "./rate-limits.ts";
import { READ_OPTIONS, type ReadOptions, SLAB_OPTIONS, type SlabOptions } from "./read-options.ts";
import { askedSlice } from "./slice-indices.ts";
import type { SlicedArray } from "./sliced-array.ts";
import { consolidatedGroups, type SourceNodesOptions, sourceNodes, wantedMetadata } from "./source-nodes.ts";
import { profilesOf } from "./store-profiles.ts";
import { ioOf, largestChunk, usualIo } from "./usual-io.ts";

export type { FlowSource } from "./open-source.ts";

/** How a flow is planned, and how it reads and writes. */
export interface PlanOptions extends ReadOptions, SlabOptions {
  /**
   * What to do when there is something at the target; `error` by default. `skip` leaves nodes that are there as they
   * are, and adds those that are not. `update`, of a copy that changes nothing, writes what differs and deletes what the
   * source lacks. Both work on a target at its place, and must be known when the plan is made.
   */
  readonly ifExists?: "error" | "skip" | "replace" | "update";
  /**
   * What stores over a network are like, as `30ms`, `100MB/s` or both, `30ms,100MB/s`: the time of a small request, and the
   * bytes that come and go in a second; `source=`, `target=` or `scratch=` before it for one of them. By default the time
   * is that of the first answers, and 100 MB/s. Plans are chosen by it, and `totals.predictedSeconds` follows from it.
   */
  readonly storeProfile?: string | readonly string[];
}

export const PLAN_OPTIONS: OptionNames<PlanOptions> = {
  ...READ_OPTIONS,
  ...SLAB_OPTIONS,
  ifExists: true,
  storeProfile: true,
};

/** What is read back of a target before it is published. */
export type Verification = boolean | "written" | "values";

/** How what was planned is run. */
export interface RunOptions extends EventOptions {
  /**
   * Reads back what is written before the target is published. `written`, or true: every key, by its size and CRC-32.
   * `values`: also all items of every array, which are compared with the source's.
   */
  readonly verify?: Verification;
  /** Publishes a directory or a zip file only when it is on the disk and would outlive a loss of power. */
  readonly fsync?: boolean;
  /**
   * Continues an unfinished run of the same plan at the target: tasks that it completed are not repeated. If there was no
   * such run, a new one starts.
   */
  readonly resume?: boolean;
  /**
   * Checks every key of the source, not its metadata only: at the end of a run they must be those of its beginning, and
   * with `resume` those of the unfinished run, which must have been started with this as well. Sizes and versions (times
   * of files, entity tags, CRC-32) are compared; the store must be able to list its keys.
   */
  readonly verifySource?: boolean;
  /**
   * Stops the run so that it can be resumed: tasks in flight are completed, and the work so far is kept. If this is
   * given, the work is also kept when `signal` is aborted and after failures, but for `differs`, `source-changed` and
   * `locked`, after which nobody can go on with it; otherwise it is removed.
   */
  readonly stop?: AbortSignal | undefined;
  /** Writes chunks that hold nothing but the fill value too. */
  readonly writeEmpty?: boolean;
  /** Takes a target that is locked: whoever asks for that knows that no other run is at work there. */
  readonly breakLock?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export const RUN_OPTIONS: OptionNames<RunOptions> = {
  ...EVENT_OPTIONS,
  verify: true,
  fsync: true,
  resume: true,
  verifySource: true,
  stop: true,
  writeEmpty: true,
  breakLock: true,
  signal: true,
};

/** How a flow is planned and run in one. */
export interface FlowOptions extends PlanOptions, RunOptions {}

/** All that planning knows of. */
export type PlanningOptions = PlanOptions & EventOptions & Changes & KeyFilter;

export const PLANNING_OPTIONS: OptionNames<PlanningOptions> = {
  ...PLAN_OPTIONS,
  ...EVENT_OPTIONS,
  ...CHANGES,
  ...KEY_FILTER,
};

/** A source that is open, and the plan of what is done with it, once. */
export interface Planned {
  readonly source: Store;
  readonly plan: Plan;
  /** What it was planned with, which holds for the run. */
  readonly options: PlanningOptions;
  /** The same plan where other profiles of the stores are assumed. */
  readonly planWith: (profiles: StoreProfiles) => Promise<Plan>;
  /** What is at the target and around it. */
  readonly probe: TargetProbe;
  /** Labels of the slice that is taken, and the indices that they became; absent where it has no labels. */
  readonly labels?: readonly FoundLabels[];
  /** Checks that the source is still the one that was planned for. @throws `source-changed` */
  assertUnchanged(options?: StoreOptions): Promise<void>;
  /** What distinguishes the metadata documents of the source, as they were read, from others. */
  readonly sourceDocuments: () => string;
  /** Keys of these documents, with their sizes and CRC-32. */
  readonly documentStates: () => readonly (readonly [key: string, size: number, crc32: number])[];
  /** A metadata document of the source as it was read, while `assertUnchanged` holds; undefined where it was not. */
  readonly sourceDocument: (key: string) => Uint8Array | undefined;
  /** Closes the source if planning opened it; `runFlow` does so when it ends. */
  close(): Promise<void>;
}

/** Opens the source and plans what is done with all below it. */
export async function planFlow(
  operation: Plan["operation"],
  from: FlowSource,
  to: FlowTarget,
  given: PlanningOptions,
): Promise<Planned> {
  const { sel, ...checked } = checkedOptions(given, PLANNING_OPTIONS);
  const options = sel ? { ...checked, slice: askedSlice(checked.slice ?? {}, { sel }) } : checked;
  assertGridStrategy(options.strategy);
  assertPlace(from, "source");
  assertPlace(to, "target");
  const asked = withFormatOf(to, options);
  const mayBePlain = operation === "copy" && !changesAnything(asked);
  return withRetryEvents(options, async () => {
    const { ifExists = "error", signal } = asked;
    const target = targetSpec(to, pacedAccess(asked));
    const probe = new TargetProbe(target.store, { isNew: ifExists === "error", signal });
    let close = () => probe.end();
    try {
      const { root, store, close: closeSource, isPlain } = await openSource(from, asked, mayBePlain);
      close = () => Promise.all([closeSource(), probe.end()]).then(() => {});
      const sliced = operation === "slice" && root.kind === "array" ? await sliceOf(root, asked) : undefined;
      const readRoot = sliced?.root ?? root;
      const planning = { ...asked, isPlain, sliced };
      const { watch, ...planned } = await planFrom(operation, readRoot, { target, probe }, planning);
      const closeAll = async () => {
        watch.end();
        await close();
      };
      const source = readRoot.store === root.store ? store : readRoot.store;
      return { source, probe, options: { ...given, signal }, ...planned, close: closeAll };
    } catch (error) {
      await close();
      throw error;
    }
  });
}

/** A single array that is sliced, with what belongs to it where that is to come along. @throws `invalid-option` */
async function sliceOf(array: ZarrArray, options: PlanOptions & KeyFilter): Promise<SlicedArray | undefined> {
  const { include = [], alone = false } = options;
  if (include.length > 0) {
    throw new ZarrflowError("invalid-option", "`include` applies only to a slice of a group", {
      path: array.path,
      hint: "Slice the group that the array is in, or omit --include.",
    });
  }
  if (alone) return undefined;
  const { slicedArray } = await import("./sliced-array.ts");
  return slicedArray(array, options);
}

async function planFrom(
  operation: Plan["operation"],
  root: ZarrArray | ZarrGroup,
  { target, probe }: { readonly target: NodeSpec; readonly probe: TargetProbe },
  options: PlanOptions & Changes & KeyFilter & Pick<SourceNodesOptions, "isPlain" | "sliced">,
): Promise<Omit<Planned, "source" | "options" | "probe" | "close"> & { readonly watch: SourceWatch }> {
  const { signal, maxMetadata, allowLoss } = options;
  const io = usualIo(options.io, root.spec, target.store);
  const zarrFormat = formatNamed(options.to ?? root.layout.zarrFormat);
  const isConverted = zarrFormat.name !== root.layout.zarrFormat;
  const areDocumentsNew = isConverted || changesAnything(options);
  const reading = sourceNodes(root, { ...options, areDocumentsNew, io });
  const placing = probe.hierarchy(zarrFormat.name, { maxMetadata, signal });
  await Promise.allSettled([reading, placing]);
  const { all, taken, companions, excluded, warnings, ...found } = await reading;
  const scratch = parseScratch(options.scratch);
  for (const place of options.sliced?.places ?? [root]) await assertApart(place, target.store);
  await placing;
  const asked = options.sliced?.array ?? root;
  const wanted = await wantedMetadata({ root, asked, all, taken }, zarrFormat.name, options);
  const { converted, change, kept, cutImages, labels } = wanted;
  const changed =
    excluded.length > 0 ||
    taken.length < all.length ||
    isConverted ||
    taken.some(needsSeparator) ||
    taken.some(({ path, metadata }) => metadata.kind === "array" && change(path, metadata) !== undefined);
  const existing = await existingNodes(target, zarrFormat.name, options);
  const nodes = taken.filter(({ path }) => !existing?.isLeft(targetPath(path, root.path, target.path)));
  const watch = await SourceWatch.begin(nodes, [root.store], { signal });
  const missing = await missingChunks({
    nodes,
    converted: converted.metadata,
    change,
    to: zarrFormat.name,
    allowLoss,
    io,
    signal,
  });
  const maxMemory = parseBytes(options.maxMemory ?? DEFAULT_MAX_MEMORY);
  const stores = [root.spec, target.store];
  const inFlight = ioOf({ io: options.io, stores, maxMemory, chunkBytes: largestChunk(nodes) });
  const planned = new Set(nodes.map(({ path }) => path));
  const areConsolidatedWritten = changed || nodes.some((node) => node.consolidated);
  const request: HierarchyPlanRequest = {
    operation,
    source: {
      store: root.spec,
      path: root.path,
      ...(Object.keys(root.reading).length > 0 && { reading: root.reading }),
    },
    target,
    nodes,
    zarrFormat,
    converted: {
      metadata: new Map([...converted.metadata, ...cutImages]),
      warnings: [...warnings, ...wanted.warnings, ...converted.warnings, ...separatorWarnings(taken, root)],
    },
    missing,
    change,
    ...(allowLoss && { allowLoss }),
    copyKeys: isListable(root.store) && options.slice === undefined,
    changed,
    consolidated: areConsolidatedWritten
      ? (found.consolidated ?? (await consolidatedGroups(nodes, { io, signal }))).filter((path) =>
          planned.has(path),
        )
      : [],
    maxMemory,
    ...inFlight,
    ...(await threading(root, target, scratch, options)),
    scratch,
    strategy: possibleStrategy(options.strategy, scratch),
  };
  const { include, exclude } = options;
  const leftOut = [...excluded, ...all.flatMap(({ path }) => (planned.has(path) ? [] : [path]))];
  const planWith = async (profiles: StoreProfiles): Promise<Plan> => {
    const filtered = filterPlan(await planHierarchy({ ...request, profiles }), {
      filter: {
        ...(include && { include }),
        ...(exclude && { exclude }),
        ...(companions.length > 0 && { companions }),
      },
      leftOut,
      existing,
      ifExists: options.ifExists,
    });
    return { ...filtered, ...(kept.length > 0 && { chunksKept: kept }) };
  };
  const places = { source: root.spec, target: target.store, scratch };
  return {
    plan: await planWith(profilesOf(places, options.storeProfile)),
    planWith,
    ...(labels.length > 0 && { labels }),
    watch,
    sourceDocuments: () => textHash(JSON.stringify(watch.states())),
    documentStates: () => watch.states(),
    sourceDocument: (key) => watch.document(root.store, key),
    assertUnchanged: (how = {}) => watch.assertUnchanged({ ...how, io: inFlight.io }),
  };
}

/** How many threads run the tasks of a flow, and why it is but one where others could not. */
async function threading(
  root: ZarrArray | ZarrGroup,
  target: NodeSpec,
  scratch: StoreSpec | undefined,
  { threads, requestsPerSecond, bytesPerSecond }: PlanOptions,
): Promise<Pick<HierarchyPlanRequest, "threads" | "singleThreadReason" | "isMemoryShared">> {
  const wanted = threads === undefined ? undefined : positive(threads, "threads");
  const reason = singleThreadReason({
    source: specOf(root.store),
    target: target.store,
    scratch,
    isPaced: requestsPerSecond !== undefined || bytesPerSecond !== undefined,
  });
  if (reason !== undefined) return { threads: 1, singleThreadReason: reason };
  return { threads: wanted ?? (await coresAvailable()), isMemoryShared: isMemoryShared() };
}

function positive(value: number, name: string): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new ZarrflowError("invalid-option", `${name} must be a whole number, 1 or more`, { found: value });
}

/** Holds that a value is what planning gave. @throws `invalid-option` */
export function assertPlanned(planned: unknown): void {
  const isPlanned = isObject(planned) && "plan" in planned && "source" in planned && "close" in planned;
  if (!isPlanned)
    throw invalid(
      "this is not a plan",
      "a plan as planCopy and the other planning functions return",
      planned,
    );
}
