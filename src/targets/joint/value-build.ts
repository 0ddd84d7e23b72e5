import { isReservedKey, JOINT_PREFIX, randomName } from "../../stores/reserved-names.ts";
import type { ListableStore, StoreOptions, TargetBuild, WritableStore } from "../../stores/store.ts";
import { withWritableFolder } from "../../stores/with/folder.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { type Medium, targetBuild } from "../build.ts";
import { deleteAll, hasRecordedValue } from "../contents.ts";
import { joinedJournal } from "../journal.ts";
import type { JointRun, TargetBuildOptions } from "../options.ts";
import { StoreLock } from "../store-lock.ts";
import { ValueJournal } from "../value-journal.ts";
import {
  createOnly,
  endedName,
  jointRecords,
  jointRunClosed,
  jointRunGone,
  ledgerName,
  notBegun,
  RUN_RECORD,
  sharedClaim,
  targetIsThere,
} from "./records.ts";

/** Record that `zarrflow finish` is completing the run: no process starts a share from then on. */
const CLOSED = "closed";

type Options = TargetBuildOptions & { readonly joint: JointRun };

/**
 * Takes part in building a target under its final keys. All processes of a run share one lock. Those with a share
 * only create values and never change existing ones, so that a process that comes too late changes nothing.
 *
 * @throws `unsupported-operation` if the store does not support conditional writes.
 */
export async function openJointInPlace(
  store: WritableStore & ListableStore,
  options: Options,
): Promise<TargetBuild> {
  const { joint, breakLock, signal } = options;
  const { share } = joint;
  assertNew(store, options);
  const folder = `${JOINT_PREFIX}${joint.id.slice(-12)}`;
  const records = withWritableFolder(store, folder);
  const lock = await StoreLock.take(store, { joint: joint.id, breakLock, signal });
  if (lock === undefined) throw notConditional(store);
  try {
    await beginRun(store, records, folder, { joint, signal });
    const found = await recordsIn(store, records, folder, { signal });
    if (share && found.isClosed) throw jointRunClosed(store.description);
    if (share || !found.isClosed) await joint.assertReady(found.records);
    if (!share) await records.set(CLOSED, new Uint8Array(0), { signal });
    await options.onTaken?.();
    const own = await ValueJournal.create(
      store,
      ledgerKeys(folder, share ? ledgerName(share, randomName()) : "ledger-end"),
    );
    const journal = joinedJournal(found.records.journal(joint.isOfInterest), own);
    if (share) {
      const medium: Medium = {
        store: createOnly(store),
        isInPlace: true,
        hasValue: (value, how) => hasRecordedValue(store, value, { readBack: false, ...how }),
        async publish() {
          await own.flush();
          await records.set(endedName(share), new Uint8Array(0));
        },
        async keep() {
          await own.flush();
        },
        discard: () => own.flush(),
      };
      return targetBuild(medium, { claim: sharedClaim(lock.lost, () => lock.detach()), journal });
    }
    const listed = await sizesIn(store, { signal });
    const medium: Medium = {
      store,
      isInPlace: true,
      hasValue: async ({ key, size }) => listed.get(key) === size,
      async publish({ onWarning }) {
        await removeRecords(store, folder).catch((error) => onWarning?.(lock.notReleased(error)));
      },
      async keep() {
        await records.delete(CLOSED);
      },
      discard: () => deleteAll(store),
    };
    return targetBuild(medium, { claim: lock, journal });
  } catch (error) {
    const isNone = isZarrflowError(error, "target-exists") || isZarrflowError(error, "not-found");
    await (isNone ? lock.putBack() : lock.detach()).catch(() => {});
    throw error;
  }
}

/** Writes the record that describes the run, if no process has done so and the place is empty. */
async function beginRun(
  store: WritableStore & ListableStore,
  records: WritableStore,
  folder: string,
  { joint, signal }: StoreOptions & { readonly joint: JointRun },
): Promise<void> {
  let found = await records.get(RUN_RECORD, { signal });
  if (found === undefined) {
    if (joint.share === undefined) throw notBegun(store.description);
    const others = await hasOthers(store, folder, { signal });
    // a process that writes values has written this record before
    found = others ? await records.get(RUN_RECORD, { signal }) : undefined;
    if (others && found === undefined) {
      throw targetIsThere(store.description);
    }
    if (found === undefined) {
      await records.setIfAbsent?.(RUN_RECORD, new TextEncoder().encode(joint.header), { signal });
      found = await records.get(RUN_RECORD, { signal });
    }
  }
  if (found === undefined) throw jointRunGone(store.description);
  joint.assertHeader(new TextDecoder().decode(found));
}

async function hasOthers(store: ListableStore, folder: string, options: StoreOptions): Promise<boolean> {
  for await (const { key } of store.list("", options))
    if (!key.startsWith(`${folder}/`) && !isReservedKey(key)) return true;
  return false;
}

async function recordsIn(
  store: WritableStore & ListableStore,
  records: WritableStore,
  folder: string,
  { signal }: StoreOptions,
) {
  const names = new Set<string>();
  for await (const { key } of store.list(`${folder}/`, { signal })) {
    names.add(key.slice(folder.length + 1).split("/")[0] ?? "");
  }
  const isClosed = (await records.size(CLOSED, { signal })) !== undefined;
  const lines = async function* (name: string) {
    const journal = await ValueJournal.find(store, { keyOf: ledgerKeys(folder, name), signal });
    if (journal) yield* journal.lines();
  };
  return { isClosed, records: jointRecords([...names].sort(), undefined, lines) };
}

/** Returns the keys of the values of one ledger, by number. */
function ledgerKeys(folder: string, name: string): (number: number) => string {
  return (number) => `${folder}/${name}/${number}`;
}

async function sizesIn(
  store: ListableStore & WritableStore,
  { signal }: StoreOptions,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { key, size = await store.size(key, { signal }) } of store.list("", { signal })) {
    if (size !== undefined) sizes.set(key, size);
  }
  return sizes;
}

/** Deletes the records, that of the run last: without it, no process continues. */
async function removeRecords(store: WritableStore & ListableStore, folder: string): Promise<void> {
  for await (const { key } of store.list(`${folder}/`)) {
    if (key !== `${folder}/${RUN_RECORD}`) await store.delete(key);
  }
  await store.delete(`${folder}/${RUN_RECORD}`);
}

/**
 * @throws `unsupported-operation` for a replacement, because a process that comes late would delete the new
 *   target.
 */
function assertNew(store: WritableStore, { ifExists }: Options): void {
  if (ifExists !== "replace") return;
  throw new ZarrflowError("unsupported-operation", "several processes cannot replace a target in a bucket", {
    store: store.description,
    hint: "Delete it before the jobs start or use another target, and plan without --if-exists replace.",
  });
}

function notConditional(store: WritableStore): ZarrflowError {
  return new ZarrflowError("unsupported-operation", "this store has no conditional writes (If-None-Match)", {
    store: store.description,
    hint: "Without them, processes could overwrite each other's values. Use a store that supports conditional writes.",
  });
}
