import type { ZarrNode } from "../hierarchy/node.ts";
import type { OpenSource } from "../hierarchy/open/open.ts";
import { openNode } from "../hierarchy/open/open-node.ts";
import { keysBelow } from "../hierarchy/open/walk.ts";
import { leaseMemory, READ_OPTIONS, type ReadOptions } from "../hierarchy/read-options.ts";
import { gridShape } from "../meta/array-metadata.ts";
import type { ReadEvent } from "../run/events.ts";
import { STORE_ACCESS } from "../stores/access.ts";
import { textOfUrl } from "../stores/assertions.ts";
import { isListable, type KeyEntry, type ListableStore } from "../stores/store.ts";
import { isZip } from "../stores/store-traits.ts";
import { memoryLimit } from "../streams/byte-budget.ts";
import { mapConcurrent } from "../streams/map-concurrent.ts";
import { untilAborted } from "../util/abort.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { joinKey } from "../util/node-path.ts";
import { checkedOptions, type OptionNames, pickOptions } from "../util/options.ts";
import { coordsOf } from "../util/shape.ts";
import { streamFrom, TransformStream } from "../util/web-streams.ts";
import { openSource } from "./request/open-source.ts";
import { usualConcurrency } from "./request/store-settings.ts";
import { conflictsOf } from "./target/filter-plan.ts";
import { targetSpec } from "./target/flow-target.ts";
import { faultFinding, isFault, type ValidateFinding } from "./validate/finding.ts";
import { type Fix, fixInPlace, fixLeftovers, fixZip, isZipKept, withReason } from "./validate/fixes.ts";
import { consolidatedFindings, type ReadNodes, readNodes, walkNodes } from "./validate/nodes.ts";
import {
  decodeCheck,
  leftoverFindings,
  ownLeftoverFindings,
  type StoredChunk,
  StoredKeys,
} from "./validate/stored-keys.ts";

export type { ValidateFinding } from "./validate/finding.ts";

export interface ValidateOptions extends Omit<ReadOptions, "v1Order"> {
  /** If true, every chunk is read and decoded. If keys cannot be listed, each chunk of the grids is requested. */
  readonly deep?: boolean | undefined;
  /**
   * Fixes what has one certain fix: outdated consolidated metadata, chunks outside the grid of their array,
   * duplicate zip entries (the last one counts; the zip is rewritten), leftovers of killed runs, separators that Zarr
   * v2 omits, and v3 fill values and missing values that are bare NaN or Infinity. No chunk value changes. Every other
   * finding states why it was not fixed.
   */
  readonly fix?: boolean | undefined;
  /** With `fix`: reports the fixes without making them. */
  readonly dryRun?: boolean | undefined;
  readonly onEvent?: ((event: ReadEvent) => void) | undefined;
}

const { v1Order: _, ...names } = READ_OPTIONS;

const VALIDATE_OPTIONS: OptionNames<ValidateOptions> = {
  ...names,
  deep: true,
  fix: true,
  dryRun: true,
  onEvent: true,
};

/**
 * Checks a node and everything below it for problems: metadata that readers would fail on, outdated consolidated
 * metadata, stray keys, chunks outside the grid or of a wrong size, odd zip entries, leftovers of killed runs; with
 * `deep` also chunks that cannot be decoded. Changes nothing except with `fix`.
 *
 * @throws `not-found`; whatever keeps the store from being read; with `fix` also `unsupported-operation` for a
 *   read-only store, and `locked` while a run writes there.
 * @example
 * ```ts
 * import { validate } from "zarrflow";
 *
 * for await (const { level, path, message } of validate("era5.zarr")) console.log(level, path, message);
 * ```
 */
export async function* validate(
  source: OpenSource,
  given: ValidateOptions = {},
): AsyncGenerator<ValidateFinding> {
  const options = checkedOptions(given, VALIDATE_OPTIONS);
  if (!options.fix && options.dryRun) {
    throw new ZarrflowError("invalid-option", "`dryRun` has no effect without `fix`", {
      hint: "Add `fix: true`, or omit `dryRun`.",
    });
  }
  const release = await leaseMemory(options, memoryLimit(options));
  try {
    if (options.fix) yield* fixesAndFindings(source, options);
    else yield* findings(source, options);
  } finally {
    release();
  }
}

async function* fixesAndFindings(
  source: OpenSource,
  options: ValidateOptions,
): AsyncGenerator<ValidateFinding> {
  const fixes: Fix[] = [];
  for await (const fix of fixed(source, options)) {
    fixes.push(fix);
    yield fix;
  }
  let isKept = false;
  const onRoot = (root: ZarrNode) => {
    isKept = isZip(root.spec) && isZipKept(root.store);
  };
  for await (const finding of findings(source, options, onRoot)) yield withReason(finding, fixes, isKept);
}

async function* findings(
  source: OpenSource,
  options: ValidateOptions,
  onRoot?: (root: ZarrNode) => void,
): AsyncGenerator<ValidateFinding> {
  const opened = await openRoot(source, options);
  if (!("root" in opened)) return yield* opened;
  try {
    const isGiven = opened.root === source;
    const root = isGiven ? await reread(opened.root, options) : opened.root;
    onRoot?.(root);
    yield* untilAborted(rootFindings(root, !isGiven, options), options.signal);
  } finally {
    await opened.close();
  }
}

/** Fixes that were made, or would be. */
async function* fixed(
  from: OpenSource,
  { dryRun = false, ...options }: ValidateOptions,
): AsyncGenerator<Fix> {
  const { signal } = options;
  const cleaning = { ...pickOptions(options, STORE_ACCESS), dryRun, signal };
  const source = textOfUrl(from);
  if (typeof source === "string") yield* fixLeftovers(source, "", cleaning);
  const opened = await openRoot(source, options);
  if (!("root" in opened)) return;
  const { root, close } = opened;
  try {
    const { spec, path, store } = root;
    const concurrency = usualConcurrency(options.concurrency, spec);
    if (typeof source !== "string" && spec.kind !== "object")
      yield* fixLeftovers({ spec, path }, path, cleaning);
    const fixing = { dryRun, maxMemory: memoryLimit(options), concurrency, signal };
    if (isZip(root.spec) && typeof source === "string" && isListable(store))
      yield* await fixZip(root, store, fixing);
    else yield* await fixInPlace(root, fixing);
  } finally {
    await close();
  }
}

/** Reopens an open node from its current documents if a fix may have changed them. */
async function reread(node: ZarrNode, { fix, dryRun, signal }: ValidateOptions): Promise<ZarrNode> {
  if (!fix || dryRun) return node;
  const { store, path, reading, spec, layout } = node;
  return (await openNode(store, path, { ...reading, spec, zarrFormat: layout.zarrFormat, signal })) ?? node;
}

/** Opens the source, or returns findings about why it cannot be opened. */
async function openRoot(
  from: OpenSource,
  options: ReadOptions,
): Promise<Awaited<ReturnType<typeof openSource>> | readonly ValidateFinding[]> {
  const source = textOfUrl(from);
  try {
    return await openSource(source, options);
  } catch (error) {
    if (isZarrflowError(error, "not-found") && typeof source === "string") {
      const left: ValidateFinding[] = [];
      const place = targetSpec(source, options);
      const looking = { below: false, signal: options.signal };
      for await (const finding of ownLeftoverFindings(place, looking)) left.push(finding);
      if (left.length > 0) return left;
    }
    if (!isZarrflowError(error) || !isFault(error) || error.code === "access-denied") throw error;
    return [faultFinding(error, "metadata", error.details.path ?? "")];
  }
}

async function* rootFindings(
  root: ZarrNode,
  isFresh: boolean,
  options: ValidateOptions,
): AsyncGenerator<ValidateFinding> {
  const { signal } = options;
  const concurrency = usualConcurrency(options.concurrency, root.spec);
  const { store } = root;
  yield* zipFindings(root);
  if (!isListable(store)) {
    const walked = await walkNodes(root, { concurrency, signal });
    yield* walked.findings;
    yield* dimensionFindings(walked.nodes.values());
    yield notListed(root.path);
    if (options.deep) yield* gridFindings(root, walked, options);
    return;
  }
  const read = await readNodes(root, store, { concurrency, isFresh, signal });
  // Where no other node has documents, consolidated metadata may list some.
  const listed = read.nodes.size <= 1 ? await walkNodes(root, { concurrency, signal }) : read;
  const areOnlyListed = root.consolidated !== undefined || listed.nodes.size > read.nodes.size;
  const known = areOnlyListed ? { ...listed, broken: new Set([...read.broken, ...listed.broken]) } : read;
  yield* known.findings;
  yield* dimensionFindings(known.nodes.values());
  if (areOnlyListed) yield onlyConsolidated(root.path);
  else yield* consolidatedFindings(read.nodes.get(root.path) ?? root, read, signal);
  yield* keyFindings(root, store, known, options);
  yield* leftoverFindings(root, store, signal);
}

/** Finds dimensions that have two lengths in one group. */
function* dimensionFindings(nodes: Iterable<ZarrNode>): Generator<ValidateFinding> {
  for (const { group, name, a, b } of conflictsOf(nodes)) {
    const message = `the dimension ${JSON.stringify(name)} has ${a.length} items in ${a.path} and ${b.length} in ${b.path}: xarray cannot open the group`;
    yield { level: "warning", what: "dimension-lengths", path: group, message };
  }
}

function* zipFindings({ store, path, layout }: ZarrNode): Generator<ValidateFinding> {
  const { pathOf } = layout.hierarchy;
  for (const { key, message } of store.findings ?? []) {
    if (pathOf(key).startsWith(joinKey(path, "")))
      yield { level: "warning", what: "zip-entry", path, message, key };
  }
}

function onlyConsolidated(path: string): ValidateFinding {
  const message =
    "the nodes have no metadata documents of their own, only entries in the consolidated metadata: some readers will not find them";
  return { level: "warning", what: "metadata", path, message };
}

function notListed(path: string): ValidateFinding {
  const message = "the store cannot list its keys, so stray keys were not checked";
  return { level: "info", what: "not-checked", path, message };
}

/** Classifies the keys of the store, and with `deep` decodes the chunks. */
async function* keyFindings(
  root: ZarrNode,
  store: ListableStore,
  read: ReadNodes,
  options: ValidateOptions,
): AsyncGenerator<ValidateFinding> {
  const { deep, concurrency, signal } = options;
  const keys = new StoredKeys(root, read);
  const chunks = new TransformStream<KeyEntry, StoredChunk>({
    async transform(listed, controller) {
      const chunk = await keys.take(listed);
      if (chunk && deep) controller.enqueue(chunk);
      else if (deep) await keys.checkValue(listed.key, { signal });
    },
  });
  const listing = {
    onUnreadable: keys.noteUnreadable.bind(keys),
    onFolder: keys.noteFolder.bind(keys),
    signal,
  };
  const checked = streamFrom(keysBelow(store, root.layout, listing))
    .pipeThrough(chunks)
    .pipeThrough(
      mapConcurrent(chunkCheck(options), { concurrency: usualConcurrency(concurrency, root.spec), signal }),
    );
  for await (const finding of checked) if (finding) yield finding;
  await keys.lookAtCodecs();
  yield* keys.findings;
  yield* keys.missingChunks();
}

/** Decodes the chunks of the grids, each requested by its key, for stores that cannot list. */
async function* gridFindings(
  root: ZarrNode,
  read: ReadNodes,
  options: ValidateOptions,
): AsyncGenerator<ValidateFinding> {
  const { signal } = options;
  const keys = new StoredKeys(root, read);
  const check = chunkCheck(options);
  const checkAt = async ({ array, coords }: GridChunk, context: { signal: AbortSignal }) => {
    const chunk = await keys.takeAt(array, coords, context);
    return chunk && check(chunk, context);
  };
  const concurrency = usualConcurrency(options.concurrency, root.spec);
  const checked = streamFrom(gridChunks(read)).pipeThrough(mapConcurrent(checkAt, { concurrency, signal }));
  for await (const finding of checked) if (finding) yield finding;
  await keys.lookAtCodecs();
  yield* keys.findings;
  yield* keys.missingChunks();
}

type GridChunk = Pick<StoredChunk, "array" | "coords">;

/** Positions of all chunks (or shards) of the arrays. */
function* gridChunks({ nodes }: ReadNodes): Generator<GridChunk> {
  for (const array of nodes.values()) {
    if (array.kind !== "array") continue;
    for (const coords of coordsOf(gridShape(array.shape, array.chunkShape))) yield { array, coords };
  }
}

/** Decodes chunks within the budget, and reports what was read. */
function chunkCheck({ onEvent, ...options }: ValidateOptions) {
  const decode = decodeCheck(memoryLimit(options));
  const bytesByPath = new Map<string, number>();
  return async (chunk: StoredChunk, context: { signal: AbortSignal }) => {
    const finding = await decode(chunk, context);
    const { path } = chunk.array;
    const bytes = (bytesByPath.get(path) ?? 0) + chunk.size;
    bytesByPath.set(path, bytes);
    onEvent?.({ type: "read", path, bytes, allBytes: undefined });
    return finding;
  };
}
