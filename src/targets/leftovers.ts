import { isNamedAttributes, isNamedDocument } from "../stores/key.ts";
import { CONSOLIDATED_LOCK_NAME, LOCK_NAME, ledgerKey } from "../stores/reserved-names.ts";
import { isListable, isWritable, type Store, type StoreOptions, type StoreSpec } from "../stores/store.ts";
import { childSpec, onThisMachine } from "../stores/store-spec.ts";
import { isZip } from "../stores/store-traits.ts";
import { openStoreIfThere } from "../stores/url.ts";
import { deleteAll } from "./delete-all.ts";
import { isOfRun, type LockRecord, readLock } from "./lock-record.ts";
import { isStale } from "./prefix-lock.ts";
import { targetFiles } from "./target-files.node.ts";
import { type Leftover, type LeftoverOptions, uploadLeftovers } from "./upload-leftovers.ts";
import { ValueJournal } from "./value-journal.ts";

/** Prefix of the names of places for scratch objects in a bucket. */
export const SCRATCH_PREFIX = "zarrflow-scratch-";
const SCRATCH = new RegExp(`^${SCRATCH_PREFIX}[\\da-f]{12}/$`);

/** Lists the leftovers of runs at a target: in it and, for a file or a folder, beside it. */
export async function* leftoversAt(
  { store: spec, path }: { readonly store: StoreSpec; readonly path: string },
  options: LeftoverOptions = {},
): AsyncGenerator<Leftover> {
  const place = childSpec(spec, path) ?? spec;
  if (place.kind === "directory" || place.kind === "zip") {
    yield* (await onThisMachine(targetFiles).leftovers()).fileLeftovers(place.path, options);
  }
  if (place.kind === "zip-value") yield* (await import("./zip-leftovers.ts")).zipLeftovers(place, options);
  if (isZip(place)) return;
  const store = await openStoreIfThere(place);
  if (store === undefined) return;
  try {
    yield* leftoversIn(store, place, options);
  } finally {
    await store.close?.();
  }
}

async function* leftoversIn(
  store: Store,
  spec: StoreSpec,
  { withUploads = true, below: _, ...options }: LeftoverOptions,
): AsyncGenerator<Leftover> {
  const lock = await readLock(store, options);
  const isDead = lock === undefined || (await isStale(store, lock, options));
  if (withUploads && isListable(store)) yield* uploadLeftovers(store, "", { isDead, ...options });
  const journal = isWritable(store) ? await ValueJournal.find(store, options) : undefined;
  if (lock ?? journal) {
    const isOfRuns = journal !== undefined || (lock !== undefined && isOfRun(lock));
    yield await lockLeftover(store, lock, { isDead, isOfRuns }, options);
  }
  const turn = await readLock(store, { key: CONSOLIDATED_LOCK_NAME, signal: options.signal });
  if (turn && isWritable(store)) {
    yield {
      kind: "lock",
      place: `${store.description}/${CONSOLIDATED_LOCK_NAME}`,
      isDead: await isStale(store, turn, { key: CONSOLIDATED_LOCK_NAME, signal: options.signal }),
      remove: () => store.delete(CONSOLIDATED_LOCK_NAME),
    };
  }
  if (!isListable(store) || spec.kind !== "s3") return;
  for await (const entry of store.listDirectory("", options)) {
    if (!("prefix" in entry) || !SCRATCH.test(entry.prefix)) continue;
    const inside = childSpec(spec, entry.prefix.slice(0, -1));
    const scratch = inside && (await openStoreIfThere(inside));
    if (!scratch || !isListable(scratch) || !isWritable(scratch)) continue;
    const held: LockRecord | undefined = await readLock(scratch, options);
    yield {
      kind: "scratch",
      place: scratch.description,
      isDead: held === undefined || (await isStale(scratch, held, options)),
      async remove() {
        await deleteAll(scratch);
        await scratch.delete(LOCK_NAME);
      },
    };
  }
}

/**
 * Makes the leftover for a lock or a ledger. If a run wrote it and no document is there, it includes the hidden
 * keys.
 */
async function lockLeftover(
  store: Store,
  lock: LockRecord | undefined,
  { isDead, isOfRuns }: { readonly isDead: boolean; readonly isOfRuns: boolean },
  options: StoreOptions,
): Promise<Leftover> {
  const about = { place: `${store.description}/${lock ? LOCK_NAME : ledgerKey(0)}`, isDead };
  const unlock = async () => {
    if (!isWritable(store)) return;
    await (await ValueJournal.find(store))?.remove();
    await store.delete(LOCK_NAME);
  };
  if (!isOfRuns || !isListable(store) || !isWritable(store))
    return { kind: "lock", ...about, remove: unlock };
  let keys = 0;
  for await (const { key } of store.list("", options)) {
    keys++;
    if (isNamedDocument(key) && !isNamedAttributes(key)) return { kind: "lock", ...about, remove: unlock };
  }
  if (keys === 0) return { kind: "lock", ...about, remove: unlock };
  return {
    kind: "half-target",
    place: store.description,
    isDead,
    async remove() {
      await deleteAll(store);
      await unlock();
    },
  };
}
