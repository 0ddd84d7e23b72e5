import { gridShape } from "../../meta/array-metadata.ts";
import { movedKey, outerPrefixes } from "../../meta/node-layout.ts";
import type { ArrayJob } from "../../plan/plan.ts";
import { layoutOfSide, listWanted } from "../../run/keys/keys-to-copy.ts";
import {
  isListable,
  type KeyEntry,
  type ListableStore,
  type ListedEntry,
  type Store,
  type StoreOptions,
} from "../../stores/store.ts";
import { compareUtf8, sortUtf8 } from "../../util/names.ts";
import { isMade, type KeyOrigins } from "./key-origins.ts";
import type { WindowCache } from "./window-cache.ts";

export interface ListVirtualOptions extends StoreOptions {
  readonly origins: KeyOrigins;
  readonly source: Store;
  readonly windows: WindowCache;
}

/**
 * Lists all keys of a plan's target with a prefix, sorted. Tasks run to find out which chunks are left out as empty.
 */
export async function* listVirtualKeys(
  prefix: string,
  options: ListVirtualOptions,
): AsyncGenerator<KeyEntry> {
  const isBelow = ({ key }: KeyEntry) => key.startsWith(prefix);
  const lists = [documentKeys(options), copiedKeys(prefix, options), chunkKeys(prefix, options)];
  const heads = await Promise.all(lists.map((list) => nextOf(list, isBelow)));
  try {
    for (;;) {
      let least = -1;
      for (const [i, head] of heads.entries()) {
        const before = heads[least];
        if (head && (!before || compareUtf8(head.key, before.key) < 0)) least = i;
      }
      const [head, list] = [heads[least], lists[least]];
      if (head === undefined || list === undefined) return;
      yield head;
      heads[least] = await nextOf(list, isBelow);
    }
  } finally {
    for (const list of lists) await list.return(undefined);
  }
}

/** Lists keys and prefixes one level below a prefix. Outside arrays no task has to run. */
export async function* listVirtualLevel(
  prefix: string,
  options: ListVirtualOptions,
): AsyncGenerator<ListedEntry> {
  const { origins, source, signal } = options;
  const level = ({ key, ...rest }: KeyEntry): ListedEntry => {
    const slash = key.indexOf("/", prefix.length);
    return slash < 0 ? { key, ...rest } : { prefix: key.slice(0, slash + 1) };
  };
  let last = "";
  if (origins.jobOf(prefix)) {
    for await (const entry of listVirtualKeys(prefix, options)) {
      const found = level(entry);
      if ("prefix" in found && found.prefix === last) continue;
      last = "prefix" in found ? found.prefix : "";
      yield found;
    }
    return;
  }
  const found = new Map<string, ListedEntry>();
  const add = (entry: ListedEntry) => found.set("prefix" in entry ? entry.prefix : entry.key, entry);
  for await (const entry of documentKeys(options)) if (entry.key.startsWith(prefix)) add(level(entry));
  if (origins.plan.publication.copyKeys && isListable(source)) {
    const { target, source: from, targetKeyOf } = origins;
    for await (const entry of source.listDirectory(movedKey(prefix, target, from), { signal })) {
      const key = targetKeyOf("prefix" in entry ? entry.prefix : entry.key);
      if (key !== undefined) add("prefix" in entry ? { prefix: key } : { ...entry, key });
    }
  }
  for (const name of sortUtf8([...found.keys()])) {
    const entry = found.get(name);
    if (entry) yield entry;
  }
}

async function nextOf(
  list: AsyncGenerator<KeyEntry>,
  isTaken: (entry: KeyEntry) => boolean,
): Promise<KeyEntry | undefined> {
  for (;;) {
    const { done, value } = await list.next();
    if (done) return undefined;
    if (isTaken(value)) return value;
  }
}

async function* documentKeys({ origins }: ListVirtualOptions): AsyncGenerator<KeyEntry> {
  const { documents } = origins;
  for (const key of sortUtf8([...documents.keys()])) yield { key, size: documents.get(key)?.length ?? 0 };
}

/** Keys that are copied to the same place. Chunks whose keys change are in `chunkKeys`. */
async function* copiedKeys(prefix: string, { origins, source, signal }: ListVirtualOptions) {
  if (!origins.plan.publication.copyKeys || !isListable(source)) return;
  const { source: from, target, targetKeyOf } = origins;
  const isWhole = prefix === "" || from.zarrFormat !== target.zarrFormat;
  for (const start of isWhole ? outerPrefixes(from) : [movedKey(prefix, target, from)]) {
    for await (const entry of listWanted(source, start, targetKeyOf, { signal })) {
      const key = targetKeyOf(entry.key);
      if (key !== undefined && key === movedKey(entry.key, from, target)) yield { ...entry, key };
    }
  }
}

async function* chunkKeys(prefix: string, options: ListVirtualOptions): AsyncGenerator<KeyEntry> {
  const { origins, source } = options;
  const { copyKeys } = origins.plan.publication;
  const jobs = origins.plan.jobs
    .map((job) => ({ job, start: layoutOfSide(job, "target").chunksPrefix }))
    .sort((a, b) => compareUtf8(a.start, b.start));
  for (const { job, start } of jobs) {
    if (!start.startsWith(prefix) && !prefix.startsWith(start)) continue;
    if (isMade(job)) yield* madeKeys(job, options);
    else if (!copyKeys) yield* passedKeys(job, options);
    else if (isListable(source)) yield* renamedKeys(job, source, options);
  }
}

async function* madeKeys(job: ArrayJob, { origins, windows, signal }: ListVirtualOptions) {
  for (const [key, coords] of keysInOrder(job)) {
    if (await windows.has(origins.madeBy(job, coords), key, signal)) yield { key };
  }
}

/** Keys of a source whose keys are not copied by listing, each checked in the source. */
async function* passedKeys(job: ArrayJob, { source, signal }: ListVirtualOptions) {
  const layout = layoutOfSide(job, "source");
  for (const [key, coords] of keysInOrder(job)) {
    const size = await source.size(layout.chunkKey(coords, job.source.chunkKeyEncoding), { signal });
    if (size !== undefined) yield { key, size };
  }
}

async function* renamedKeys(job: ArrayJob, source: ListableStore, { origins, signal }: ListVirtualOptions) {
  const { source: from, target, targetKeyOf } = origins;
  const { chunksPrefix } = layoutOfSide(job, "source");
  for await (const entry of listWanted(source, chunksPrefix, targetKeyOf, { signal })) {
    const key = targetKeyOf(entry.key);
    if (key !== undefined && key !== movedKey(entry.key, from, target)) yield { ...entry, key };
  }
}

/** Keys of all chunks (or shards) of an array, sorted: separators come before digits. */
function* keysInOrder(job: ArrayJob): Generator<readonly [key: string, coords: readonly number[]]> {
  const { shape, chunkShape, shardShape, chunkKeyEncoding } = job.target;
  const layout = layoutOfSide(job, "target");
  for (const coords of coordsByDigits(gridShape(shape, shardShape ?? chunkShape))) {
    yield [layout.chunkKey(coords, chunkKeyEncoding), coords];
  }
}

function* coordsByDigits([n, ...rest]: readonly number[]): Generator<number[]> {
  if (n === undefined) yield [];
  else for (const at of byDigits(n)) for (const others of coordsByDigits(rest)) yield [at, ...others];
}

/** Numbers below `n` in the order of their decimal text: 0, 1, 10, 11, 2. */
function* byDigits(n: number, start = 0): Generator<number> {
  for (let digit = start === 0 ? 0 : start; digit < Math.min(n, start + 10); digit++) {
    yield digit;
    if (digit > 0) yield* byDigits(n, digit * 10);
  }
}
