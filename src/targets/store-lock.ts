import { type ProcessRecord, processRecordOf } from "../stores/files/process-record.ts";
import { files } from "../stores/files.node.ts";
import { LOCK_NAME } from "../stores/reserved-names.ts";
import {
  type ListableStore,
  type ListedRun,
  type LockOptions,
  type Store,
  type StoreOptions,
  valueAtMost,
  type WritableStore,
} from "../stores/store.ts";
import { onThisMachine } from "../stores/store-spec.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { isUuid } from "../util/names.ts";
import { pause } from "../util/pause.ts";
import type { Claim } from "./build.ts";
import { targetFiles } from "./target-files.node.ts";

/** Milliseconds without a renewal after which other runs ignore a lock. */
const STALE_AFTER = 5 * 60_000;
/** Fraction of that time after which a run renews its lock. */
const RENEWED_AT = 0.1;
/** Fraction of that time after which a run treats its own lock as lost, before another run may take it. */
const LOST_AT = 0.8;
/** Milliseconds to wait for the store to answer who holds a lock. */
const READ_TIMEOUT_MS = 5_000;
/** Milliseconds after which one of two runs that took over a stale lock at the same time finds that it lost. */
const SETTLED_AFTER = 2_000;
/**
 * Milliseconds for which a check of the lock stays valid. A run that takes the lock over in that time settles
 * later, and then finds its own lock gone.
 */
const SEEN_FOR = SETTLED_AFTER / 2;

/** Option for a lock that all processes of a joint run hold together. */
interface JointLock {
  /** The name of that run. */
  readonly joint?: string | undefined;
}

export type LockStore = Pick<
  WritableStore,
  "description" | "folder" | "get" | "ageOf" | "set" | "setIfAbsent" | "delete"
>;

/** Names of this process's runs whose locks could not be removed, and are ignored. */
const abandoned = new Set<string>();

/**
 * A lock on a place that only one run may write to. It is a value that contains the random name of the run, and is
 * renewed while the run lasts. The lock is stale if its process is known to have ended. If that is not known, its
 * age decides, by the clock of the store if there is one.
 */
export class StoreLock implements Claim {
  readonly #store: LockStore;
  readonly #key: string;
  readonly #lostAfter: number;
  readonly #isJoint: boolean;
  /** Milliseconds for which a renewal by another process of the same run counts. */
  readonly #sharedFor: number;
  readonly #record: LockRecord;
  /** True if the run before this one did not release the place, and may have left files in it. */
  readonly #isTakeover: boolean;
  readonly #renewal: ReturnType<typeof setInterval>;
  readonly #lost = new AbortController();
  #renewing: Promise<void> = Promise.resolve();
  #renewedAt = Date.now();
  /** Time of the last check that found that this run holds the lock. */
  #seenAt = Number.NEGATIVE_INFINITY;

  private constructor(
    store: LockStore,
    record: LockRecord,
    {
      key,
      staleAfter,
      isJoint,
    }: { readonly key: string; readonly staleAfter: number; readonly isJoint: boolean },
    isTakeover: boolean,
  ) {
    this.#isTakeover = isTakeover;
    this.#store = store;
    this.#key = key;
    this.#lostAfter = LOST_AT * staleAfter;
    this.#isJoint = isJoint;
    this.#sharedFor = isJoint ? (RENEWED_AT * staleAfter) / 2 : 0;
    this.#record = record;
    this.#renewal = setInterval(() => {
      this.#renewing = this.#renew();
    }, RENEWED_AT * staleAfter);
    (this.#renewal as { unref?: () => void }).unref?.();
  }

  /**
   * Locks the root of a store, or the place that another key stands for. A stale lock is taken over, and with
   * `breakLock` any lock. Returns undefined if the store does not support conditional writes.
   *
   * @throws `locked` while another run writes there.
   */
  static async take(
    store: LockStore,
    options: LockOptions & LockKey & JointLock = {},
  ): Promise<StoreLock | undefined> {
    const { key = LOCK_NAME, staleAfter = STALE_AFTER, signal } = options;
    const which = { key, staleAfter, isJoint: options.joint !== undefined };
    const record = options.joint === undefined ? await newLockRecord() : jointLockRecord(options.joint);
    let isTakeover = false;
    try {
      for (;;) {
        const isTaken = await setIfAbsent(store, key, record, { signal });
        if (isTaken === undefined) return undefined;
        // An attempt whose answer was lost may have taken the lock.
        if (isTaken || (await readLock(store, { key, signal }))?.owner === record.owner) {
          const lock = new StoreLock(store, record, which, isTakeover);
          if (isTakeover) await lock.#settle({ signal });
          return lock;
        }
        const stale = await assertUnlocked(store, isTakeover ? { ...which, signal } : options);
        if (stale === undefined) continue;
        isTakeover = true;
        // If nothing can be deleted, the lock is overwritten.
        await store.delete(key, { signal }).catch(() => store.set(key, encodedLock(record), { signal }));
      }
    } catch (error) {
      // other processes of the same run keep the lock
      const isAlone = options.joint === undefined;
      if (isAlone && !isZarrflowError(error, "locked")) await giveBack(store, key, record, isTakeover);
      throw error;
    }
  }

  /** Aborted, with the error to throw, when another run has taken the place over, or may have. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** @throws `locked` if another run took over the stale lock too and removed the lock of this run. */
  async #settle(options: StoreOptions): Promise<void> {
    try {
      await pause(SETTLED_AFTER, options.signal);
      await this.assertHeld(options);
    } catch (error) {
      clearInterval(this.#renewal);
      throw error;
    }
  }

  /** @throws `locked` if another run has taken the place over. */
  async assertHeld({ lately = false, ...options }: StoreOptions & { readonly lately?: boolean } = {}) {
    if (lately && this.#isSeenLately()) return;
    this.lost.throwIfAborted();
    const at = Date.now();
    const found = await readLock(this.#store, { ...options, key: this.#key });
    if (found?.owner !== this.#record.owner) throw lost(this.#store, found);
    this.#seenAt = at;
  }

  #isSeenLately(): boolean {
    const age = Date.now() - this.#seenAt;
    return !this.lost.aborted && age >= 0 && age < SEEN_FOR;
  }

  /**
   * Returns true if this run still has the place. Fails if the store does not answer soon, because callers are
   * about to end.
   */
  async isHeld(): Promise<boolean> {
    if (this.lost.aborted) return false;
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    return (await readLock(this.#store, { key: this.#key, signal }))?.owner === this.#record.owner;
  }

  /** Releases the lock; does nothing if another run holds it. */
  async release(): Promise<void> {
    if (this.#isTakeover && !this.lost.aborted) await this.#removeLeft();
    await this.#end(() => this.#store.delete(this.#key));
  }

  /** Removes files that the previous run was writing in a folder, if its process is known to have ended. */
  async #removeLeft(): Promise<void> {
    const { folder } = this.#store;
    const isOfFolder = `/${this.#key}`.endsWith(`/${LOCK_NAME}`);
    if (folder === undefined || !isOfFolder) return;
    const { removeFilesOfDead } = await onThisMachine(targetFiles).leftovers();
    await removeFilesOfDead(`${folder}/${this.#key.slice(0, -LOCK_NAME.length)}`).catch(() => {});
  }

  /** Releases the lock, and marks the contents as the work of an ended run. A joint run keeps its lock. */
  async leave(): Promise<void> {
    await (this.#isJoint ? this.detach() : this.#markOver());
  }

  /** Restores the state in which the lock was found: with the mark of an ended run, if there was one. */
  async putBack(): Promise<void> {
    await (this.#isTakeover ? this.#markOver() : this.release());
  }

  #markOver(): Promise<void> {
    return this.#end(() => this.#store.set(this.#key, encodedLock({ ...this.#record, isOver: true })));
  }

  /** Leaves the lock to the other processes of a run. */
  async detach(): Promise<void> {
    clearInterval(this.#renewal);
    await this.#renewing;
  }

  notReleased(error: unknown): { readonly message: string; readonly hint: string } {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      message: `the target is published, but its lock ${this.#key} in ${this.#store.description} could not be removed: ${reason}`,
      hint: `Remove it, or run \`zarrflow clean\`; after ${STALE_AFTER / 60_000} minutes it is ignored.`,
    };
  }

  async #end(last: () => Promise<void>): Promise<void> {
    clearInterval(this.#renewal);
    await this.#renewing;
    try {
      if (this.#isSeenLately() || (await this.isHeld())) await last();
    } catch (error) {
      abandoned.add(this.#record.owner);
      throw error;
    }
  }

  async #renew(): Promise<void> {
    try {
      const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
      const found = await readLock(this.#store, { key: this.#key, signal });
      if (found?.owner !== this.#record.owner) return this.#lose(lost(this.#store, found));
      const isRenewed = Math.abs(Date.now() - Date.parse(found.renewed)) < this.#sharedFor;
      if (!isRenewed)
        await this.#store.set(this.#key, encodedLock({ ...this.#record, renewed: new Date().toISOString() }));
      this.#renewedAt = Date.now();
    } catch {
      // the next renewal may succeed; this run gives the place up before others may take it
      if (Date.now() - this.#renewedAt > this.#lostAfter) this.#lose(lost(this.#store, undefined));
    }
  }

  #lose(error: ZarrflowError): void {
    clearInterval(this.#renewal);
    this.#lost.abort(error);
  }
}

/**
 * Locks a store whose contents will change, in which no other run is active, and runs a first step there. The lock is
 * undefined as for `StoreLock.take`.
 *
 * @throws `locked` while another run writes to the store or to a part of it.
 */
export async function lockContents<T>(
  store: LockStore & ListableStore,
  options: LockOptions,
  begin: () => Promise<T>,
): Promise<{ readonly lock: StoreLock | undefined; readonly begun: T }> {
  const lock = await StoreLock.take(store, options);
  try {
    if (lock) await assertNoneInside(store, options);
    return { lock, begun: await begin() };
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

/**
 * Removes the lock of a run that failed or was interrupted while taking it, because the server may have executed a
 * request without answering. A lock that cannot be removed is ignored in this process. If the lock had been left
 * by another run, that run's mark stays.
 */
async function giveBack(
  store: LockStore,
  key: string,
  record: LockRecord,
  isTakeover: boolean,
): Promise<void> {
  abandoned.add(record.owner);
  const left = encodedLock({ ...record, isOver: true });
  try {
    const found = await readLock(store, { key, signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
    if (found?.owner === record.owner) await (isTakeover ? store.set(key, left) : store.delete(key));
    else if (isTakeover && found === undefined) await store.setIfAbsent?.(key, left);
  } catch {
    // others wait until it is stale
  }
}

/**
 * Checks that no other run is active in a store. @returns the lock that can be ignored, if there is one @throws
 * `locked`
 */
export async function assertUnlocked(
  store: Pick<Store, "description" | "get" | "ageOf">,
  { breakLock = false, key = LOCK_NAME, staleAfter = STALE_AFTER, signal }: LockOptions & LockKey = {},
): Promise<LockRecord | undefined> {
  const other = await readLock(store, { key, signal });
  if (other === undefined || breakLock || (await isStale(store, other, { key, staleAfter, signal })))
    return other;
  throw new ZarrflowError("locked", "another run is writing to the target", {
    store: store.description,
    key,
    found: holderOf(other),
    hint: `Wait for it. If that run is dead, use --break-lock, or wait until ${staleAfter / 60_000} minutes have passed since its last renewal.`,
  });
}

/** Reads a lock. `isDead` is true if no run has it, because there is none or its run has ended. */
export async function lockAt(
  store: Pick<Store, "get" | "ageOf">,
  options: StoreOptions & LockKey,
): Promise<{ readonly lock: LockRecord | undefined; readonly isDead: boolean }> {
  const lock = await readLock(store, options);
  return { lock, isDead: lock === undefined || (await isStale(store, lock, options)) };
}

/**
 * Returns true if the run that left a lock has ended. If nothing is known about its process, a run without a sign
 * of life for long counts as ended.
 */
async function isStale(
  store: Pick<Store, "ageOf">,
  lock: LockRecord,
  { key = LOCK_NAME, staleAfter = STALE_AFTER, signal }: StoreOptions & LockKey = {},
): Promise<boolean> {
  const { owner, renewed, isOver } = lock;
  if (isOver || abandoned.has(owner)) return true;
  const state = (await files?.processes())?.processState(lock);
  if (state !== undefined) return state === "ended";
  const age = (await store.ageOf?.(key, { signal })) ?? Date.now() - Date.parse(renewed);
  return !(age < staleAfter);
}

/** Returns undefined if the store does not support conditional writes. */
async function setIfAbsent(
  store: LockStore,
  key: string,
  record: LockRecord,
  options: StoreOptions,
): Promise<boolean | undefined> {
  try {
    return await store.setIfAbsent?.(key, encodedLock(record), options);
  } catch (error) {
    if (isZarrflowError(error, "unsupported-operation")) return undefined;
    throw error;
  }
}

function lost(store: Pick<Store, "description">, other: LockRecord | undefined): ZarrflowError {
  return new ZarrflowError("locked", "another run took over the target", {
    store: store.description,
    found: other ? holderOf(other) : "no lock",
    hint: "The target may contain data of both runs: replace it.",
  });
}

/** Size in bytes of the largest lock record. */
const MAX_LOCK = 64 * 1024;

/** Identifies the run that writes at a place. */
export interface LockRecord extends ProcessRecord {
  /** A random name of the run. */
  readonly owner: string;
  readonly begun: string;
  readonly renewed: string;
  /** True if the run has ended and left work that it could not remove. */
  readonly isOver?: boolean;
}

/** Selects a lock. */
export interface LockKey {
  /** @default LOCK_NAME */
  readonly key?: string | undefined;
  /** Milliseconds without a renewal after which the lock is ignored. @default 300,000 */
  readonly staleAfter?: number | undefined;
}

/** Reads the lock in the root of a store, or at another key, if there is one. */
export async function readLock(
  store: Pick<Store, "get">,
  { key = LOCK_NAME, signal }: StoreOptions & LockKey = {},
): Promise<LockRecord | undefined> {
  const bytes = await lockBytes(store, key, signal);
  if (bytes === undefined) return undefined;
  const fields = fieldsOf(bytes);
  const { owner, begun, renewed, isOver } = fields;
  return {
    owner: String(owner),
    ...processRecordOf(fields),
    begun: String(begun),
    renewed: String(renewed),
    ...(isOver === true && { isOver }),
  };
}

/** Returns the bytes at a lock's key. A value too large for a lock is returned as empty. */
async function lockBytes(
  store: Pick<Store, "get">,
  key: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  try {
    return await valueAtMost(store, key, MAX_LOCK, { signal });
  } catch (error) {
    if (isZarrflowError(error, "resource-limit")) return new Uint8Array(0);
    throw error;
  }
}

/**
 * True if a run wrote this lock, completely. Anything else under its name keeps runs away while it is new, but
 * does not show whose the values beside it are.
 */
export function isOfRun({ owner, begun, renewed }: LockRecord): boolean {
  return isUuid(owner) && [begun, renewed].every((time) => Number.isFinite(Date.parse(time)));
}

/** Describes the holder of a lock for messages. */
export function holderOf({ host, pid, begun, renewed }: LockRecord): string {
  const who = host === undefined ? "another run" : `process ${pid} on ${host}`;
  return `${who}, started ${begun}, last seen ${renewed}`;
}

/** Makes the lock record of this process, for a run that starts now. */
export async function newLockRecord(): Promise<LockRecord> {
  const now = new Date().toISOString();
  return {
    owner: crypto.randomUUID(),
    ...(await files?.processes())?.thisProcess(),
    begun: now,
    renewed: now,
  };
}

/** Makes the lock record of a joint run, whose processes may be on different machines. */
export function jointLockRecord(owner: string): LockRecord {
  const now = new Date().toISOString();
  return { owner, begun: now, renewed: now };
}

function fieldsOf(bytes: Uint8Array): Partial<Record<keyof LockRecord, unknown>> {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    return {};
  }
}

export function encodedLock(record: LockRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record));
}

/**
 * Checks that no other run is active inside a store, on a part of its contents. Call this after locking the store:
 * runs that start inside later see that lock.
 *
 * @throws `locked`
 */
export async function assertNoneInside(
  store: ListableStore & Pick<WritableStore, "setIfAbsent">,
  { breakLock = false, signal }: LockOptions = {},
): Promise<void> {
  if (breakLock) return;
  for await (const { key, isDead } of runsIn(store, { signal })) {
    if (key === LOCK_NAME || isDead) continue;
    if (isDead === undefined) await assertUnlocked(store, { key, signal });
    else {
      throw new ZarrflowError("locked", "another run is writing inside the target", {
        store: store.description,
        key,
        hint: "Wait for it. If that run is dead, use --break-lock, or wait until 15 minutes have passed since its last renewal.",
      });
    }
  }
}

/** Lists locks; a store without `listRuns` has them among its keys. */
async function* runsIn(
  store: ListableStore & Pick<WritableStore, "setIfAbsent">,
  options: StoreOptions,
): AsyncGenerator<ListedRun> {
  if (store.listRuns) yield* store.listRuns(options);
  else if (store.setIfAbsent) {
    for await (const { key } of store.list("", options)) if (key.endsWith(`/${LOCK_NAME}`)) yield { key };
  }
}
