import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../stores/memory.ts";
import { keysBeside } from "../stores/reserved-names.ts";
import { isWritable, type StoreSpec, type TargetBuild, type WritableStore } from "../stores/store.ts";
import { openStore } from "../stores/url.ts";
import { openZipValue } from "../stores/zip.ts";
import { throwIfAborted } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { TargetBuildOptions, TargetPlace } from "./options.ts";
import { notReleased } from "./prefix-lock.ts";
import { streamedZip } from "./streamed-zip.ts";
import { assertKeyFree, assertNoValue, takeKey } from "./taken-key.ts";
import { removeMarks } from "./value-journal.ts";

type ZipValueSpec = Extract<StoreSpec, { readonly kind: "zip-value" }>;

/** Returns the place of a zip that is a value of another store. */
export function zipValuePlace(spec: ZipValueSpec): TargetPlace {
  return {
    async check(options) {
      const { store } = await storeAround(spec.store);
      await assertKeyFree(store, spec.key, options);
    },
    open: (options) => openZipValueBuild(spec, options),
  };
}

/**
 * Builds a zip that is a value of another store. Its bytes stream into one writer of that store, without a file.
 * The value appears when the writer is committed, and replaces an earlier one. If the store keeps parts of
 * incomplete values, a lock and a ledger beside the value let another run continue them.
 *
 * Uncommitted values cannot be read. So `reopen` commits, and the value is visible from then on. If it turns out
 * to be wrong, `discard` deletes it, but the value that it replaced is gone.
 *
 * @throws as `takeKey`; `unsupported-operation` if the store cannot be written.
 */
async function openZipValueBuild(
  { store: around, key }: ZipValueSpec,
  options: TargetBuildOptions,
): Promise<TargetBuild> {
  const { ifExists, signal } = options;
  const { store, keep } = await storeAround(around);
  const taken = await takeKey(store, key, options);
  const { lock, journal } = taken;
  const zip = await streamedZip(store, key, { ...options, ...taken }).catch(async (error) => {
    await lock?.putBack().catch(() => {});
    throw error;
  });
  const { leave, holds } = zip;

  let isCommitted = false;
  let isPublished = false;
  const assertStillFree = async () => {
    if (ifExists !== "replace" && !isCommitted) await assertNoValue(store, key, { signal });
  };
  const commit = async () => {
    await zip.finish();
    await Promise.all([lock?.assertHeld({ signal }), assertStillFree()]);
    if (!isCommitted) await zip.value.commit();
    isCommitted = true;
  };
  const discard = async () => {
    if (isPublished) return;
    try {
      // data that another run has taken over belongs to that run
      if (lock && !(await lock.isHeld())) await leave?.();
      else {
        if (isCommitted) await store.delete(key);
        else await zip.abort(new ZarrflowError("aborted", "the target was aborted"));
        await journal?.remove();
      }
    } catch (error) {
      await lock?.leave().catch(() => {});
      throw error;
    }
    await lock?.release();
  };
  return {
    store: zip.store,
    ...(lock && { lost: lock.lost }),
    ...(journal && { journal }),
    ...(holds && { holds }),
    async reopen() {
      await commit();
      return openZipValue(unclosed(store), key);
    },
    async publish({ signal, onWarning } = {}) {
      throwIfAborted(signal);
      await commit();
      keep();
      isPublished = true;
      await removeMarks(journal, lock).catch((error) =>
        onWarning?.(notReleased(store, error, keysBeside(key).lock)),
      );
    },
    ...(leave && {
      async keep() {
        if (isCommitted) return discard(); // the value is visible, but not verified
        await leave();
        await journal?.flush().finally(() => lock?.leave());
      },
    }),
    discard,
  };
}

/** Opens the store that will contain the zip. A store in memory without a name gets it from `keep`. */
async function storeAround(
  spec: StoreSpec,
): Promise<{ readonly store: WritableStore; readonly keep: () => void }> {
  if (spec.kind === "memory" && namedMemoryStore(spec.name) === undefined) {
    const store = new MemoryStore(`memory ${spec.name}`);
    return { store, keep: () => nameMemoryStore(spec.name, store) };
  }
  const store = await openStore(spec);
  if (isWritable(store) && !store.singleWriter) return { store, keep: () => {} };
  await store.close?.();
  throw new ZarrflowError("unsupported-operation", "a zip cannot be written here: the store is read-only", {
    store: store.description,
    hint: "Write it to a folder or a bucket.",
  });
}

/** Wraps a store for a reader that closes it while it is still in use. */
function unclosed(store: WritableStore): Pick<WritableStore, "description" | "get" | "size"> {
  return {
    description: store.description,
    get: (key, options) => store.get(key, options),
    size: (key, options) => store.size(key, options),
  };
}
