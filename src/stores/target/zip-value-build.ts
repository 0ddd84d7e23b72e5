import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { ByteSink } from "../byte-sink.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../memory.ts";
import {
  isWritable,
  type StoreSpec,
  type StoreWriter,
  type TargetBuild,
  type WritableStore,
} from "../store.ts";
import { openStore } from "../url.ts";
import { ZipWriter, type ZipWriterOptions } from "../zip/zip-writer.ts";
import { openZipValue } from "../zip.ts";
import type { TargetBuildOptions, TargetPlace, TargetPlaceOptions } from "./options.ts";

type ZipValueSpec = Extract<StoreSpec, { readonly kind: "zip-value" }>;

/** Where a zip is built that is a value of another store. */
export function zipValuePlace(spec: ZipValueSpec): TargetPlace {
  return {
    async check(options) {
      const { store } = await storeAround(spec.store);
      await assertPlaceFree(store, spec.key, options);
    },
    open: (options) => openZipValueBuild(spec, options),
  };
}

/**
 * Builds a zip that is a value of another store. Its bytes stream into one writer of that store as they come, through
 * no file; the value appears when the writer is committed, in place of what was there before.
 *
 * No store reads what is not committed. So `reopen` commits, and what is read back is visible from then on; if it is
 * found wrong, `discard` deletes it, and what it had replaced is gone.
 *
 * @throws `target-exists`; `unsupported-operation` when the store cannot be written.
 */
async function openZipValueBuild(
  { store: around, key }: ZipValueSpec,
  { ifExists, deflate, expectedSize, signal }: TargetBuildOptions,
): Promise<TargetBuild> {
  const { store, keep } = await storeAround(around);
  const assertStillFree = () => assertPlaceFree(store, key, { ifExists, signal });
  await assertStillFree();
  const value = await store.openWriter(key, { expectedSize, signal });
  const zip = await zipInto(value, `zip ${store.description}/${key}`, { deflate });

  let isCommitted = false;
  let isPublished = false;
  const commit = async () => {
    await zip.finish();
    if (isCommitted) return;
    await assertStillFree();
    await value.commit();
    isCommitted = true;
  };
  return {
    store: zip,
    async reopen() {
      await commit();
      return openZipValue(unclosed(store), key);
    },
    async publish({ signal } = {}) {
      throwIfAborted(signal);
      await commit();
      keep();
      isPublished = true;
    },
    async discard() {
      if (isPublished) return;
      if (isCommitted) return store.delete(key);
      const reason = new ZarrflowError("aborted", "the target was aborted");
      await zip.abort(reason);
      await value.abort(reason); // a zip that is finished, and was not committed, leaves it open
    },
  };
}

/** @throws `target-exists` */
async function assertPlaceFree(
  store: WritableStore,
  key: string,
  { ifExists, signal }: TargetPlaceOptions,
): Promise<void> {
  if (ifExists === "replace" || (await store.size(key, { signal })) === undefined) return;
  throw new ZarrflowError("target-exists", "a value exists at the target", {
    store: store.description,
    key,
    hint: "Replace it, or choose another target.",
  });
}

/** The store that the zip will be in; one in memory that has no name yet gets it by `keep`. */
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

/** A zip whose bytes become those of `value`, which is not committed with it. */
async function zipInto(
  value: StoreWriter,
  description: string,
  options: ZipWriterOptions,
): Promise<ZipWriter> {
  const sink: ByteSink = {
    write: (bytes) => value.write(bytes),
    close: async () => {},
    abort: (reason) => value.abort(reason),
  };
  try {
    return new ZipWriter(sink, description, options);
  } catch (error) {
    await value.abort(error);
    throw error;
  }
}

/** The store for a reader that closes it, while it is still of use. */
function unclosed(store: WritableStore): Pick<WritableStore, "description" | "get" | "size"> {
  return {
    description: store.description,
    get: (key, options) => store.get(key, options),
    size: (key, options) => store.size(key, options),
  };
}
