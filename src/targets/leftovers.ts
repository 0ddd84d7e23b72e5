import { isNamedAttributes, isNamedDocument } from "../stores/key.ts";
import { CONSOLIDATED_LOCK_NAME, keysBeside, LOCK_NAME, ledgerKey } from "../stores/reserved-names.ts";
import {
  isListable,
  isWritable,
  type ListableStore,
  type Store,
  type StoreOptions,
  type StoreSpec,
} from "../stores/store.ts";
import { childSpec, onThisMachine } from "../stores/store-spec.ts";
import { isZip } from "../stores/store-traits.ts";
import { openStoreIfThere } from "../stores/url.ts";
import { deleteAll } from "./contents.ts";
import { isOfRun, type LockRecord, lockAt } from "./store-lock.ts";
import { targetFiles } from "./target-files.node.ts";
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
  if (place.kind === "zip-value") yield* zipLeftovers(place, options);
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
  const { lock, isDead } = await lockAt(store, options);
  if (withUploads && isListable(store)) yield* uploadLeftovers(store, "", { isDead, ...options });
  const journal = isWritable(store) ? await ValueJournal.find(store, options) : undefined;
  if (lock ?? journal) {
    const isOfRuns = journal !== undefined || (lock !== undefined && isOfRun(lock));
    yield await lockLeftover(store, lock, { isDead, isOfRuns }, options);
  }
  const turn = await lockAt(store, { key: CONSOLIDATED_LOCK_NAME, signal: options.signal });
  if (turn.lock && isWritable(store)) {
    yield {
      kind: "lock",
      place: `${store.description}/${CONSOLIDATED_LOCK_NAME}`,
      isDead: turn.isDead,
      remove: () => store.delete(CONSOLIDATED_LOCK_NAME),
    };
  }
  if (!isListable(store) || spec.kind !== "s3") return;
  for await (const entry of store.listDirectory("", options)) {
    if (!("prefix" in entry) || !SCRATCH.test(entry.prefix)) continue;
    const inside = childSpec(spec, entry.prefix.slice(0, -1));
    const scratch = inside && (await openStoreIfThere(inside));
    if (!scratch || !isListable(scratch) || !isWritable(scratch)) continue;
    yield {
      kind: "scratch",
      place: scratch.description,
      isDead: (await lockAt(scratch, options)).isDead,
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

/** Lists leftovers of runs for a zip that is a value of another store: its parts, and marks beside it. */
async function* zipLeftovers(
  { store: around, key }: Extract<StoreSpec, { readonly kind: "zip-value" }>,
  { withUploads = true, signal }: LeftoverOptions,
): AsyncGenerator<Leftover> {
  const store = await openStoreIfThere(around);
  try {
    if (store === undefined || !isWritable(store) || store.openUpload === undefined) return;
    const { lock: lockKey, ledger: keyOf } = keysBeside(key);
    const [{ lock, isDead }, journal] = await Promise.all([
      lockAt(store, { key: lockKey, signal }),
      ValueJournal.find(store, { keyOf, signal }),
    ]);
    if (lock || journal) {
      yield {
        kind: journal ? "half-target" : "lock",
        place: `${store.description}/${journal ? keyOf(0) : lockKey}`,
        isDead,
        async remove() {
          if (journal) {
            const { removeLeftZip } = await import("./zip-upload-log.ts");
            await removeLeftZip(store, key, journal);
          }
          await store.delete(lockKey);
        },
      };
    }
    if (!withUploads || !isListable(store)) return;
    const folder = key.slice(0, key.lastIndexOf("/") + 1);
    for await (const leftover of uploadLeftovers(store, folder, { isDead, signal })) {
      if (leftover.place === key) yield leftover;
    }
  } finally {
    await store?.close?.();
  }
}

/**
 * Milliseconds after which an upload counts as left by a dead run: uploads are not renewed, and not all have a lock.
 */
const UPLOAD_DEAD_AFTER = 24 * 60 * 60_000;

/**
 * Lists unfinished uploads below a prefix; `place` is the key of each.
 *
 * @param isDead true if no locks show an active run there
 */
async function* uploadLeftovers(
  store: ListableStore,
  prefix: string,
  { isDead, signal }: StoreOptions & { readonly isDead: boolean },
): AsyncGenerator<Leftover> {
  if (store.listUploads === undefined) return;
  for await (const { key, begun, hint, giveUp } of store.listUploads(prefix, { signal })) {
    const isOld = Date.now() - begun.getTime() > UPLOAD_DEAD_AFTER;
    if (giveUp) yield { kind: "upload", place: key, isDead: isDead && isOld, hint, remove: giveUp };
  }
}

export interface LeftoverOptions extends StoreOptions {
  /** @default true */
  readonly withUploads?: boolean;
  /** True to look for files that are being written in subfolders too. @default true */
  readonly below?: boolean;
}

/** Something that a run has at a place while it is active, and leaves there if it is killed. */
export interface Leftover {
  /**
   * - `build`: a new or an old target beside the target's name
   * - `file`: a value that is being written
   * - `lock`: a lock or a ledger
   * - `half-target`: locked keys that no document makes visible, or some parts of a zip
   * - `scratch`: scratch objects
   * - `upload`: parts of a value
   */
  readonly kind: "build" | "file" | "lock" | "half-target" | "scratch" | "upload";
  /** Path or key. */
  readonly place: string;
  /** True if its run is known to have ended; otherwise the run may be active. */
  readonly isDead: boolean;
  /** A sentence that says how to remove it by other means. */
  readonly hint?: string;
  remove(): Promise<void>;
}
