import { files } from "../stores/files.node.ts";
import { LOCK_NAME } from "../stores/reserved-names.ts";
import type { LockOptions, Store, StoreOptions, WritableStore } from "../stores/store.ts";
import { onThisMachine } from "../stores/store-spec.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { pause } from "../util/pause.ts";
import {
  encodedLock,
  holderOf,
  jointLockRecord,
  type LockKey,
  type LockRecord,
  newLockRecord,
  readLock,
} from "./lock-record.ts";
import { targetFiles } from "./target-files.node.ts";

/** Milliseconds without a renewal after which other runs ignore a lock. */
const STALE_AFTER = 5 * 60_000;
/** Fraction of that time after which a run renews its lock. */
const RENEWED_AT = 0.1;
/** Fraction of that time after which a run gives up its own lock, before another run may take it. */
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
export class PrefixLock {
  readonly #store: LockStore;
  readonly #key: string;
  readonly #lostAfter: number;
  /** Milliseconds for which a renewal by another process of the same run counts. */
  readonly #sharedFor: number;
  readonly #record: LockRecord;
  /** True if the run before this one did not release the place, and may have left files in it. */
  readonly #isTakeover: boolean;
  readonly #renewal: ReturnType<typeof setInterval>;
  readonly #lost = new AbortController();
  #renewing: Promise<void> = Promise.resolve();
  #renewedAt = Date.now();
  /** Time of the last check that found the lock to be this run's. */
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
  ): Promise<PrefixLock | undefined> {
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
          const lock = new PrefixLock(store, record, which, isTakeover);
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

  /** @throws `locked` if another run took over the stale lock too and removed this run's. */
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
  async assertHeld(options: StoreOptions = {}): Promise<void> {
    this.lost.throwIfAborted();
    const at = Date.now();
    const found = await readLock(this.#store, { ...options, key: this.#key });
    if (found?.owner !== this.#record.owner) throw lost(this.#store, found);
    this.#seenAt = at;
  }

  /** Like `assertHeld`, but skips the check if the last one was less than a second ago. */
  async assertHeldLately(options: StoreOptions = {}): Promise<void> {
    if (!this.#isSeenLately()) await this.assertHeld(options);
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

  /** Releases the lock, and marks the contents as the work of an ended run. */
  async leave(): Promise<void> {
    await this.#end(() => this.#store.set(this.#key, encodedLock({ ...this.#record, isOver: true })));
  }

  /** Restores the state in which the lock was found: with the mark of an ended run, if there was one. */
  async putBack(): Promise<void> {
    await (this.#isTakeover ? this.leave() : this.release());
  }

  /** Leaves the lock to the other processes of a run. */
  async detach(): Promise<void> {
    clearInterval(this.#renewal);
    await this.#renewing;
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

/**
 * Returns true if the run that left a lock has ended. If nothing is known about its process, a run without a sign
 * of life for long counts as ended.
 */
export async function isStale(
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

/** Makes the warning about a lock that could not be removed when its run ended. */
export function notReleased(
  store: Pick<Store, "description">,
  error: unknown,
  key = LOCK_NAME,
): { readonly message: string; readonly hint: string } {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    message: `the target is published, but its lock ${key} in ${store.description} could not be removed: ${reason}`,
    hint: `Remove it, or run \`zarrflow clean\`; after ${STALE_AFTER / 60_000} minutes it is ignored.`,
  };
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
    hint: "The target may hold data of both runs: replace it.",
  });
}
