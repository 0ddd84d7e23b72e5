import { gridShape } from "../../meta/array-metadata.ts";
import type { Documents, NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { movedKey } from "../../meta/node-layout.ts";
import { pathFilter } from "../../plan/key-filter.ts";
import type { ArrayJob, Plan } from "../../plan/plan.ts";
import { targetPath } from "../../plan/request.ts";
import { isOnlyDocument } from "../../stores/key.ts";
import type { KeyEntry, ListableStore, ListOptions, Store } from "../../stores/store.ts";
import { folderInPlace } from "../../stores/version.ts";
import { belowPath, folderOf, isAtOrBelow, joinKey, lastName, nearest } from "../../util/node-path.ts";
import { product } from "../../util/shape.ts";
import type { ReadableStream } from "../../util/web-streams.ts";

/** Consolidated metadata of v2; a change of format drops it with all documents. */
const CONSOLIDATED_V2 = ".zmetadata";

/**
 * Returns a function that maps a source key to the target key under which it is copied unchanged. Chunks of verbatim
 * arrays get the target's chunk keys; everything else keeps its key below the target's path.
 *
 * The function returns undefined for keys that are not copied: documents that are published, chunks that tasks read,
 * keys that look like chunks in the target's format, documents of other formats that would become wrong, and whatever
 * the plan leaves out. For a prefix, which ends in `/`, undefined means that everything below it is left out.
 */
export function keysToCopy(
  plan: Plan,
  documents: Documents,
  { onChunk, onOtherFormat }: KeyListeners = {},
): (key: string) => string | undefined {
  const jobs = new Map(plan.jobs.map((job) => [job.path, job]));
  const isLeftOut = leftOutKeys(plan, documents);
  const isUntrue = untrueDocuments(plan, documents);
  const { zarrFormat, from } = plan.publication;
  const source = formatNamed(from).layout(plan.source.path);
  const target = formatNamed(zarrFormat).layout(plan.target.path);
  const { sharedKeys, nodeOf, pathOf } = source.hierarchy;
  const published = [...sharedKeys, ...source.documentKeys];
  const isLeftBehind = (key: string) => nodeOf(key) !== undefined || key.endsWith(CONSOLIDATED_V2);
  return (key) => {
    const job = nearest(pathOf(key), jobs);
    if (job) {
      const rank = job.source.shape.length;
      const coords = layoutOfSide(job, "source").parseChunkKey(key, rank, job.source.chunkKeyEncoding);
      if (coords && job.tasks > 0) return undefined;
      if (coords) {
        onChunk?.(job);
        return hasSameKeys(job)
          ? key
          : layoutOfSide(job, "target").chunkKey(coords, job.target.chunkKeyEncoding);
      }
    }
    if (published.includes(key) || (from !== zarrFormat && isLeftBehind(key))) return undefined;
    const same = movedKey(key, source, target);
    if (documents.has(same) || (job && isTargetChunk(same, job)) || isLeftOut(key, same)) return undefined;
    if (isUntrue(same)) {
      onOtherFormat?.(same);
      return undefined;
    }
    if (from !== zarrFormat) target.hierarchy.assertKey(same);
    return same;
  };
}

/** Listeners that are called while keys are mapped. */
export interface KeyListeners {
  /** Called with the job of each copied chunk. */
  readonly onChunk?: ((job: ArrayJob) => void) | undefined;
  /** Called with the target key of each document of another format that is not copied. */
  readonly onOtherFormat?: ((key: string) => void) | undefined;
}

/**
 * Finds documents of other formats, in the folders of published nodes, that would not describe the target: all of them
 * if any chunk of the plan changes, and consolidated ones if any node is left out.
 */
function untrueDocuments(plan: Plan, documents: Documents): (key: string) => boolean {
  const { from, zarrFormat, leftOut = [], filter } = plan.publication;
  const { hierarchy, documentKeys, consolidatedKey = "" } = formatNamed(zarrFormat).layout("");
  const ownNames = from === zarrFormat ? [...documentKeys, ...hierarchy.sharedKeys, consolidatedKey] : [];
  const areChunksChanged = from !== zarrFormat || plan.jobs.some((job) => !isSameStorage(job));
  const isPartial = leftOut.length > 0 || filter !== undefined;
  const nodes = new Set([...documents.keys()].flatMap((key) => hierarchy.nodeOf(key) ?? []));
  const isInGroup = (folder: string) => documents.has(joinKey(folder, ".zgroup"));
  return (key) => {
    if (!(areChunksChanged || isPartial) || !isOnlyDocument(key)) return false;
    const name = lastName(key);
    if (ownNames.includes(name)) return false;
    const folder = folderOf(key);
    if (name === CONSOLIDATED_V2) return [...nodes].some((path) => isAtOrBelow(path, folder));
    return nodes.has(folder) && (areChunksChanged || (name === "zarr.json" && isInGroup(folder)));
  };
}

/** True if the target has the same chunks of an array as the source, under the same keys. */
function isSameStorage({ strategy, source, target }: ArrayJob): boolean {
  const [from, to] = [source.chunkKeyEncoding, target.chunkKeyEncoding];
  return strategy === "verbatim" && from.name === to.name && from.separator === to.separator;
}

/** Checks that a folder of the source, given by its prefix, is not in the place of a chunk. @throws `corrupt-store` */
export function folderCheck(plan: Plan): (prefix: string) => void {
  const jobs = new Map(plan.jobs.map((job) => [job.path, job]));
  const { pathOf } = formatNamed(plan.publication.from).layout(plan.source.path).hierarchy;
  return (prefix) => {
    const key = prefix.slice(0, -1);
    const job = nearest(pathOf(key), jobs);
    if (job === undefined) return;
    const { shape, chunkShape, shardShape, chunkKeyEncoding } = job.source;
    const coords = layoutOfSide(job, "source").parseChunkKey(key, shape.length, chunkKeyEncoding);
    const grid = gridShape(shape, shardShape ?? chunkShape);
    if (coords?.every((at, d) => at < (grid[d] ?? 0))) throw folderInPlace().addContext({ key });
  };
}

function isTargetChunk(key: string, job: ArrayJob): boolean {
  const { shape, chunkKeyEncoding } = job.target;
  return layoutOfSide(job, "target").parseChunkKey(key, shape.length, chunkKeyEncoding) !== undefined;
}

/**
 * Finds keys of the source, other than chunks of a job, that are left out. Each is given with its key below the target.
 */
function leftOutKeys(
  { source, target, publication }: Plan,
  documents: Documents,
): (key: string, same: string) => boolean {
  const { leftOut = [], from, zarrFormat, filter = {} } = publication;
  const { pathOf } = formatNamed(from).layout(source.path).hierarchy;
  const { hierarchy } = formatNamed(zarrFormat).layout(target.path);
  const chosen = pathFilter(filter);
  const nodes = new Map(leftOut.map((path) => [targetPath(path, source.path, target.path), false]));
  for (const key of documents.keys()) {
    const path = hierarchy.nodeOf(key);
    if (path !== undefined) nodes.set(path, true);
  }
  return (key, same) => {
    const path = hierarchy.nodeOf(same);
    const isTaken = path === undefined ? nearest(hierarchy.pathOf(same), nodes) : nodes.get(path);
    if (leftOut.length > 0 && isTaken === false) return true;
    const below = belowPath(source.path, pathOf(key));
    // A folder can be excluded, yet contain keys that are included.
    return key.endsWith("/") ? chosen?.isExcluded(below) === true : chosen?.isTaken(below) === false;
  };
}

/** True if both sides store their chunks under the same keys. */
function hasSameKeys({ path, targetPath, source, target }: ArrayJob): boolean {
  const [from, to] = [source.chunkKeyEncoding, target.chunkKeyEncoding];
  const isOneLayout = path === targetPath && source.zarrFormat === target.zarrFormat;
  return isOneLayout && from.name === to.name && from.separator === to.separator;
}

/** Cached for each side of a job, since every key needs them. */
const layouts = { source: new WeakMap<ArrayJob, NodeLayout>(), target: new WeakMap<ArrayJob, NodeLayout>() };

export function layoutOfSide(job: ArrayJob, side: "source" | "target"): NodeLayout {
  const known = layouts[side].get(job);
  if (known) return known;
  const layout = formatNamed(job[side].zarrFormat).layout(side === "source" ? job.path : job.targetPath);
  layouts[side].set(job, layout);
  return layout;
}

/**
 * Lists all keys below a prefix. A key or folder that cannot be read is skipped if `targetKeyOf` leaves it out;
 * otherwise the listing fails.
 */
export function listWanted(
  store: ListableStore,
  prefix: string,
  targetKeyOf: (key: string) => string | undefined,
  options: Pick<ListOptions, "signal" | "onFolder" | "asStored">,
): ReadableStream<KeyEntry> {
  return store.list(prefix, {
    ...options,
    onUnreadable: (name, error) => {
      if (targetKeyOf(name) !== undefined) throw error;
    },
  });
}

/** Counts the listed chunks of arrays that are copied unchanged. */
export class ListedChunks {
  readonly #counts = new Map<ArrayJob, number>();

  readonly count = (job: ArrayJob): void => {
    this.#counts.set(job, (this.#counts.get(job) ?? 0) + 1);
  };

  /** Notifies the source of each array with chunks that were not listed. */
  noteMissing(source: Store, jobs: readonly ArrayJob[]): void {
    if (source.noteMissing === undefined) return;
    for (const job of jobs) {
      if (job.tasks > 0 || (this.#counts.get(job) ?? 0) >= storedKeys(job)) continue;
      source.noteMissing(formatNamed(job.source.zarrFormat).layout(job.path).chunksPrefix);
    }
  }
}

/** Number of keys of an array without missing chunks or shards. */
function storedKeys({ source: { shape, chunkShape, shardShape } }: ArrayJob): number {
  return product(gridShape(shape, shardShape ?? chunkShape));
}
