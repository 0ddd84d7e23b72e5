import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { pause } from "../../util/pause.ts";
import { files } from "../files.node.ts";
import { machineFiles } from "../machine-files.ts";
import { LOCK_NAME } from "../reserved-names.ts";
import type { Store, StoreOptions, WritableStore } from "../store.ts";
import {
  encodedLock,
  holderOf,
  jointLockRecord,
  type LockKey,
  type LockRecord,
  newLockRecord,
  readLock,
} from "./lock-record.ts";

/** Milliseconds without a renewal after which a lock counts for nothing; */
const STALE_AFTER = 5 * 60_000;
/** of these the part after which its run renews it, */
const RENEWED_AT = 0.1;
/** and the part after which its own run takes it for lost, which has to be before anybody else may take it. */
const LOST_AT = 0.8;
/** Milliseconds in which a store says who holds its lock, or is gone. */
const TOLD_WITHIN = 5_000;
/** Milliseconds after which one of two runs that took over a stale lock at once finds that it lost. */
const SETTLED_AFTER = 2_000;
/** Milliseconds for which a look at the lock counts: a run that takes it over meanwhile finds its own gone when it settles. */
const SEEN_FOR = SETTLED_AFTER / 2;

export interface LockOptions extends StoreOptions {
  /** Takes the place whoever holds its lock. */
  readonly breakLock?: boolean | undefined;
}

/** How a lock is taken by a run that several processes carry out, which all hold it. */
interface JointLock {
  /** The name of that run. */
  readonly joint?: string | undefined;
}

/** A store that can hold a lock. */
export type LockStore = Pick<
  WritableStore,
  "description" | "folder" | "get" | "ageOf" | "set" | "setIfAbsent" | "delete"
>;

/** Names of runs of this process whose locks could not be removed: they count for nothing. */
const abandoned = new Set<string>();

/**
 * A place that one run alone writes at. The lock is a value with the random name of its run, renewed while that lasts.
 * It is stale when its process is over for certain; else by its age, by the clock of the store if it has one.
 */
export class PrefixLock {
  readonly #store: LockStore;
  readonly #key: string;
  readonly #lostAfter: number;
  /** Milliseconds for which the renewal by another process of the same run counts. */
  readonly #sharedFor: number;
  readonly #record: LockRecord;
  /** Whether the run before this one has not given the place free, and may have left files in it. */
  readonly #isTakeover: boolean;
  readonly #renewal: ReturnType<typeof setInterval>;
  readonly #lost = new AbortController();
  #renewing: Promise<void> = Promise.resolve();
  #renewedAt = Date.now();
  /** When it was last looked at, and was this run's. */
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
   * Locks the root of a store, or what another key stands for; undefined where the store knows no conditional writes. A
   * stale lock is taken over, and any with `breakLock`.
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
        // An attempt whose answer was lost may have taken it.
        if (isTaken || (await readLock(store, { key, signal }))?.owner === record.owner) {
          const lock = new PrefixLock(store, record, which, isTakeover);
          if (isTakeover) await lock.#settle({ signal });
          return lock;
        }
        const stale = await assertUnlocked(store, isTakeover ? { ...which, signal } : options);
        if (stale === undefined) continue;
        isTakeover = true;
        // Where nothing may be deleted, the lock is written over.
        await store.delete(key, { signal }).catch(() => store.set(key, encodedLock(record), { signal }));
      }
    } catch (error) {
      // what others of the same run hold stays theirs
      const isAlone = options.joint === undefined;
      if (isAlone && !isZarrflowError(error, "locked")) await giveBack(store, key, record, isTakeover);
      throw error;
    }
  }

  /** Aborted, with the error to throw, when another run has taken the place over, or may have. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** @throws `locked` when another run removed this one's lock for the stale one. */
  async #settle(options: StoreOptions): Promise<void> {
    try {
      await pause(SETTLED_AFTER, options.signal);
      await this.assertHeld(options);
    } catch (error) {
      clearInterval(this.#renewal);
      throw error;
    }
  }

  /** @throws `locked` when another run has taken the place over. */
  async assertHeld(options: StoreOptions = {}): Promise<void> {
    this.lost.throwIfAborted();
    const at = Date.now();
    const found = await readLock(this.#store, { ...options, key: this.#key });
    if (found?.owner !== this.#record.owner) throw lost(this.#store, found);
    this.#seenAt = at;
  }

  /** As `assertHeld`, which is not asked again within a second. */
  async assertHeldLately(options: StoreOptions = {}): Promise<void> {
    if (!this.#isSeenLately()) await this.assertHeld(options);
  }

  #isSeenLately(): boolean {
    const age = Date.now() - this.#seenAt;
    return !this.lost.aborted && age >= 0 && age < SEEN_FOR;
  }

  /** Whether the place is still this run's. Fails when the store does not answer soon: who asks wants to end. */
  async isHeld(): Promise<boolean> {
    if (this.lost.aborted) return false;
    const signal = AbortSignal.timeout(TOLD_WITHIN);
    return (await readLock(this.#store, { key: this.#key, signal }))?.owner === this.#record.owner;
  }

  /** Gives the place free; one that is another's stays so. */
  async release(): Promise<void> {
    if (this.#isTakeover && !this.lost.aborted) await this.#removeLeft();
    await this.#end(() => this.#store.delete(this.#key));
  }

  /** Removes what the run before was writing in a folder, if its process is over for certain. */
  async #removeLeft(): Promise<void> {
    const { folder } = this.#store;
    const isOfFolder = `/${this.#key}`.endsWith(`/${LOCK_NAME}`);
    if (folder === undefined || !isOfFolder) return;
    const { removeFilesOfDead } = await machineFiles().leftovers();
    await removeFilesOfDead(`${folder}/${this.#key.slice(0, -LOCK_NAME.length)}`).catch(() => {});
  }

  /** Gives the place free, and leaves word that what is there is of a run that is over. */
  async leave(): Promise<void> {
    await this.#end(() => this.#store.set(this.#key, encodedLock({ ...this.#record, isOver: true })));
  }

  /** Gives the place free as it was found: with the word that a run has left there, if one has. */
  async putBack(): Promise<void> {
    await (this.#isTakeover ? this.leave() : this.release());
  }

  /** Leaves it to the other processes of a run. */
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
      const signal = AbortSignal.timeout(TOLD_WITHIN);
      const found = await readLock(this.#store, { key: this.#key, signal });
      if (found?.owner !== this.#record.owner) return this.#lose(lost(this.#store, found));
      const isRenewed = Math.abs(Date.now() - Date.parse(found.renewed)) < this.#sharedFor;
      if (!isRenewed)
        await this.#store.set(this.#key, encodedLock({ ...this.#record, renewed: new Date().toISOString() }));
      this.#renewedAt = Date.now();
    } catch {
      // perhaps the next time; before others may take the place, this run gives it up
      if (Date.now() - this.#renewedAt > this.#lostAfter) this.#lose(lost(this.#store, undefined));
    }
  }

  #lose(error: ZarrflowError): void {
    clearInterval(this.#renewal);
    this.#lost.abort(error);
  }
}

/**
 * Removes the lock of a run that was cut, or failed, while it took it: the server may have carried out a request without
 * an answer. What cannot be removed counts for nothing in this process. The lock of a run that had left it there stays one.
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
    const found = await readLock(store, { key, signal: AbortSignal.timeout(TOLD_WITHIN) });
    if (found?.owner === record.owner) await (isTakeover ? store.set(key, left) : store.delete(key));
    else if (isTakeover && found === undefined) await store.setIfAbsent?.(key, left);
  } catch {
    // others wait until it is stale
  }
}

/** Checks that no other run is at work in a store. @returns the lock that counts for nothing, if there is one @throws `locked` */
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
 * Whether the run that has left a lock is over, or, where nothing is known of its process, has not been heard of for so long
 * that it counts as over.
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

/** That a lock could not be removed when its run was over. */
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

/** Undefined where the store does not know. */
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
