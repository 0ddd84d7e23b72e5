import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../stores/memory.ts";
import { keysBeside } from "../stores/reserved-names.ts";
import {
  isWritable,
  type StoreSpec,
  type StoreWriter,
  type TargetBuild,
  type WritableStore,
} from "../stores/store.ts";
import { openStore } from "../stores/url.ts";
import type { ByteSink } from "../stores/writer.ts";
import { isOmeZip, ZipWriter, type ZipWriterOptions } from "../stores/zip/zip-writer.ts";
import { openZipValue } from "../stores/zip.ts";
import { ZarrflowError } from "../util/errors.ts";
import { type Medium, targetBuild } from "./build.ts";
import type { TargetBuildOptions, TargetPlace, TargetPlaceOptions } from "./options.ts";
import { ResumedZip } from "./resumed-zip.ts";
import { assertUnlocked, StoreLock } from "./store-lock.ts";
import { unfinishedThere, ValueJournal } from "./value-journal.ts";
import {
  bytesOf,
  entryLine,
  type LeftZip,
  leftZip,
  removeLeftZip,
  wholeEntries,
  zipUploadLine,
} from "./zip-upload-log.ts";

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
  const { leave, hasValue } = zip;

  let isCommitted = false;
  const finish = async () => {
    await zip.finish();
    const isFree = ifExists === "replace" || isCommitted || assertNoValue(store, key, { signal });
    await Promise.all([lock?.assertHeld({ signal }), isFree]);
  };
  const commit = async () => {
    if (!isCommitted) await zip.value.commit();
    isCommitted = true;
  };
  const medium: Medium = {
    store: zip.store,
    ...(hasValue && { hasValue }),
    async reopen() {
      await finish();
      await commit();
      return openZipValue(unclosed(store), key);
    },
    finish,
    async publish() {
      await commit();
      keep();
    },
    ...(leave && {
      abandon: leave,
      async keep() {
        if (isCommitted) return false; // the value is visible, but not verified
        await leave();
        await journal?.flush();
      },
    }),
    async discard() {
      if (isCommitted) await store.delete(key);
      else await zip.abort(new ZarrflowError("aborted", "the target was aborted"));
      await journal?.remove();
    },
  };
  return targetBuild(medium, { claim: lock, journal });
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

/** A key that this run alone writes, with the run's marks beside it. */
export interface TakenKey {
  /** Absent if the store keeps nothing of an incomplete value, or does not support conditional writes. */
  readonly lock?: StoreLock;
  /** Absent if an interrupted run leaves nothing that another could continue. */
  readonly journal?: ValueJournal;
  /** The work of an earlier run that is continued. */
  readonly left?: LeftZip;
}

/**
 * Takes the key of a zip, with a lock if the store supports that. Continues the work of an unfinished run there if
 * requested, or else removes it.
 *
 * @throws `target-exists`; `target-not-empty` for the work of an unfinished run that is neither resumed nor
 *   replaced; `locked`.
 */
export async function takeKey(
  store: WritableStore,
  key: string,
  options: TargetBuildOptions,
): Promise<TakenKey> {
  const { ifExists, deflate, resume, onTaken, onUnfinished, breakLock, signal } = options;
  await assertKeyFree(store, key, { ...options, mayResume: resume !== undefined });
  const { lock: lockKey, ledger: keyOf } = keysBeside(key);
  const lock = store.openUpload && (await StoreLock.take(store, { key: lockKey, breakLock, signal }));
  try {
    await onTaken?.();
    if (lock === undefined) return {};
    const found = await ValueJournal.find(store, { keyOf, signal });
    if (found) {
      const unfinished = { description: found.description, journal: found };
      const how = await resume?.(unfinished);
      if (how) return { lock, journal: found, left: await leftZip(found) };
      if (resume === undefined && ifExists !== "replace") throw unfinishedThere(store.description, key);
      if (resume === undefined) onUnfinished?.(unfinished);
      await removeLeftZip(store, key, found);
    }
    return deflate === undefined ? { lock, journal: await ValueJournal.create(store, keyOf) } : { lock };
  } catch (error) {
    await lock?.putBack().catch(() => {});
    throw error;
  }
}

/** @throws the errors of `takeKey` that can be found without writing. */
export async function assertKeyFree(
  store: WritableStore,
  key: string,
  { ifExists, mayResume = false, breakLock, signal }: TargetPlaceOptions,
): Promise<void> {
  const { lock, ledger: keyOf } = keysBeside(key);
  const assertAbsent = async () => {
    if (ifExists !== "replace") await assertNoValue(store, key, { signal });
  };
  const assertFinished = async () => {
    const isMeant = mayResume || ifExists === "replace";
    if (!isMeant && (await ValueJournal.find(store, { keyOf, signal }))) {
      throw unfinishedThere(store.description, key);
    }
  };
  if (store.openUpload === undefined) return assertAbsent();
  const [absence, unlocked, finished] = await Promise.allSettled([
    assertAbsent(),
    assertUnlocked(store, { key: lock, breakLock, signal }),
    assertFinished(),
  ]);
  for (const check of [absence, unlocked, finished]) if (check.status === "rejected") throw check.reason;
}

/** @throws `target-exists` */
export async function assertNoValue(
  store: WritableStore,
  key: string,
  { signal }: Pick<TargetPlaceOptions, "signal">,
): Promise<void> {
  if ((await store.size(key, { signal })) === undefined) return;
  throw new ZarrflowError("target-exists", "a value exists at the target", {
    store: store.description,
    key,
    hint: 'Replace it with ifExists: "replace" (--if-exists replace), or choose another target.',
  });
}

/** A zip that streams into a value of a store. */
export interface StreamedZip {
  readonly store: WritableStore;
  /** The value that the zip streams into; finishing the zip does not commit it. */
  readonly value: StoreWriter;
  readonly hasValue?: TargetBuild["hasValue"];
  /** Writes the central directory. */
  finish(): Promise<void>;
  /** Leaves the uploaded parts to a run that continues them. Absent if none can. */
  leave?(): Promise<void>;
  abort(reason: unknown): Promise<void>;
}

/**
 * Starts a zip, or continues one of an earlier run, after the last part that the store still has and that contains
 * the end of an entry. Bytes after the last complete entry in that part are not referred to by the directory.
 */
export async function streamedZip(
  store: WritableStore,
  key: string,
  {
    journal,
    left,
    deflate,
    comment,
    expectedSize,
    memory,
    signal,
  }: TakenKey & Pick<TargetBuildOptions, "deflate" | "comment" | "expectedSize" | "memory" | "signal">,
): Promise<StreamedZip> {
  const description = `zip ${store.description}/${key}`;
  const how = { comment, isOme: isOmeZip(key) };
  if (journal === undefined || store.openUpload === undefined) {
    const value = await store.openWriter(key, { expectedSize, memory, signal });
    return zipInto(value, await zipWriter(value, description, { ...how, deflate }));
  }
  // without a mark of its owner, nobody can continue the upload
  const note = (line: string) => {
    if (journal.isBegun) journal.append(line);
  };
  const upload = await store.openUpload(key, {
    expectedSize,
    memory,
    signal,
    begun: left?.upload,
    onBegun: (id) => {
      note(zipUploadLine({ upload: id }));
      journal.flush().catch(() => {}); // the next append throws the error
    },
    onPart: ({ number, size, tag }) => note(zipUploadLine({ part: number, size, tag })),
  });
  const bytes = bytesOf(upload.kept);
  const entries = left ? wholeEntries(left.entries, bytes) : [];
  if (left) note(zipUploadLine({ goesOnAfter: upload.kept.length }));
  const writer = await zipWriter(upload, description, {
    ...how,
    written: { entries, bytes },
    onEntry: (entry) => note(entryLine(entry)),
  });
  const zip = { ...zipInto(upload, writer), leave: () => upload.leave() };
  if (left === undefined) return zip;
  const resumed = new ResumedZip(writer, entries);
  return { ...zip, store: resumed, hasValue: async (value) => resumed.hasValue(value) };
}

function zipInto(value: StoreWriter, writer: ZipWriter): StreamedZip {
  return {
    store: writer,
    value,
    finish: () => writer.finish(),
    async abort(reason) {
      await writer.abort(reason);
      await value.abort(reason); // finishing the zip without a commit leaves the value open
    },
  };
}

/** Makes a zip writer whose bytes go to `value`, which it does not commit. */
async function zipWriter(
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
