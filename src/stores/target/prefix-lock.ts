import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { pause } from "../../util/pause.ts";
import { LOCK_NAME } from "../reserved-names.ts";
import type { Store, StoreOptions, WritableStore } from "../store.ts";

/** Milliseconds after which a run renews its lock. */
const RENEW_AFTER = 30_000;
/** Milliseconds without a renewal after which a lock counts for nothing, */
const STALE_AFTER = 5 * 60_000;
/** and those after which its own run takes it for lost, which has to be before anybody else may take it. */
const LOST_AFTER = 4 * 60_000;
/** Milliseconds in which a store tells who holds its lock, or is gone. */
const TOLD_WITHIN = 5_000;
/** Milliseconds after which one of two runs that took over a stale lock at once finds that it lost. */
const SETTLED_AFTER = 2_000;

/** Who writes at a place. What is told beside `owner` is for people. */
export interface LockRecord {
  /** A random name for the run. */
  readonly owner: string;
  readonly host?: string;
  readonly pid?: number;
  readonly begun: string;
  readonly renewed: string;
  /** Whether the run is over, and has left what it could not remove. */
  readonly isOver?: boolean;
}

export interface LockOptions extends StoreOptions {
  /** Takes the place whoever holds its lock. */
  readonly breakLock?: boolean | undefined;
}

/**
 * A place that one run alone writes at. The lock is a value with the random name of its run, renewed while that lasts.
 * Its age alone, by the clock of the store where that tells, makes it stale: process numbers and the names of machines
 * are the same in many containers.
 */
export class PrefixLock {
  readonly #store: WritableStore;
  readonly #record: LockRecord;
  readonly #renewal: ReturnType<typeof setInterval>;
  readonly #lost = new AbortController();
  #renewing: Promise<void> = Promise.resolve();
  #renewedAt = Date.now();

  private constructor(store: WritableStore, record: LockRecord) {
    this.#store = store;
    this.#record = record;
    this.#renewal = setInterval(() => {
      this.#renewing = this.#renew();
    }, RENEW_AFTER);
    (this.#renewal as { unref?: () => void }).unref?.();
  }

  /**
   * Locks the root of a store; undefined where the store knows no conditional writes. A stale lock is taken over, and
   * any with `breakLock`.
   *
   * @throws `locked` while another run writes there.
   */
  static async take(store: WritableStore, options: LockOptions = {}): Promise<PrefixLock | undefined> {
    const { signal } = options;
    const record = await newRecord();
    for (let isTakeover = false; ; isTakeover = true) {
      const isTaken = await setIfAbsent(store, record, { signal });
      if (isTaken === undefined) return undefined;
      // An attempt whose answer was lost may have taken it.
      if (isTaken || (await readLock(store, { signal }))?.owner === record.owner) {
        const lock = new PrefixLock(store, record);
        if (isTakeover) await lock.#settle({ signal });
        return lock;
      }
      await assertUnlocked(store, isTakeover ? { signal } : options);
      await store.delete(LOCK_NAME, { signal });
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
      await this.demand(options);
    } catch (error) {
      clearInterval(this.#renewal);
      throw error;
    }
  }

  /** @throws `locked` when another run has taken the place over. */
  async demand(options: StoreOptions = {}): Promise<void> {
    this.lost.throwIfAborted();
    const found = await readLock(this.#store, options);
    if (found?.owner !== this.#record.owner) throw lost(this.#store, found);
  }

  /** Whether the place is still this run's. Fails when the store does not tell soon: who asks wants to end. */
  async isHeld(): Promise<boolean> {
    if (this.lost.aborted) return false;
    const signal = AbortSignal.timeout(TOLD_WITHIN);
    return (await readLock(this.#store, { signal }))?.owner === this.#record.owner;
  }

  /** Gives the place free; one that is another's stays so. */
  async release(): Promise<void> {
    await this.#end(() => this.#store.delete(LOCK_NAME));
  }

  /** Gives the place free, and leaves word that what is there is of a run that is over. */
  async leave(): Promise<void> {
    await this.#end(() => this.#store.set(LOCK_NAME, encoded({ ...this.#record, isOver: true })));
  }

  async #end(last: () => Promise<void>): Promise<void> {
    clearInterval(this.#renewal);
    await this.#renewing;
    if (await this.isHeld()) await last();
  }

  async #renew(): Promise<void> {
    try {
      const found = await readLock(this.#store, { signal: AbortSignal.timeout(TOLD_WITHIN) });
      if (found?.owner !== this.#record.owner) return this.#lose(lost(this.#store, found));
      await this.#store.set(LOCK_NAME, encoded({ ...this.#record, renewed: new Date().toISOString() }));
      this.#renewedAt = Date.now();
    } catch {
      // perhaps the next time; before others may take the place, this run gives it up
      if (Date.now() - this.#renewedAt > LOST_AFTER) this.#lose(lost(this.#store, undefined));
    }
  }

  #lose(error: ZarrflowError): void {
    clearInterval(this.#renewal);
    this.#lost.abort(error);
  }
}

/** The lock in the root of a store, if there is one. */
export async function readLock(store: Store, options: StoreOptions = {}): Promise<LockRecord | undefined> {
  const bytes = await store.get(LOCK_NAME, options);
  if (bytes === undefined) return undefined;
  const { owner, host, pid, begun, renewed, isOver } = fieldsOf(bytes);
  return {
    owner: String(owner),
    ...(typeof host === "string" && { host }),
    ...(typeof pid === "number" && { pid }),
    begun: String(begun),
    renewed: String(renewed),
    ...(isOver === true && { isOver }),
  };
}

/** Who holds a lock, in words. */
export function holderOf({ host, pid, begun, renewed }: LockRecord): string {
  const who = host === undefined ? "another run" : `process ${pid} on ${host}`;
  return `${who}, begun ${begun}, last seen ${renewed}`;
}

/** Checks that no other run is at work in a store. @throws `locked` */
export async function assertUnlocked(
  store: Store,
  { breakLock = false, signal }: LockOptions = {},
): Promise<void> {
  const other = await readLock(store, { signal });
  if (other === undefined || breakLock || (await isStale(store, other, { signal }))) return;
  throw new ZarrflowError("locked", "another run writes at the target", {
    store: store.description,
    found: holderOf(other),
    hint: `Wait for it. If it is dead, start with --break-lock, or wait until ${STALE_AFTER / 60_000} minutes have passed without a sign of it.`,
  });
}

/** Whether the run that has left a lock is over, or has not been heard of for so long that it counts as over. */
export async function isStale(
  store: Store,
  { renewed, isOver }: LockRecord,
  options: StoreOptions = {},
): Promise<boolean> {
  if (isOver) return true;
  const age = (await store.ageOf?.(LOCK_NAME, options)) ?? Date.now() - Date.parse(renewed);
  return !(age < STALE_AFTER);
}

/** That a lock could not be removed when its run was over. */
export function notReleased(
  store: Store,
  error: unknown,
): { readonly message: string; readonly hint: string } {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    message: `the target is published, but its lock ${LOCK_NAME} in ${store.description} could not be removed: ${reason}`,
    hint: `Remove it, or run \`zarrflow clean\`; after ${STALE_AFTER / 60_000} minutes it counts for nothing.`,
  };
}

/** Undefined where the store cannot tell. */
async function setIfAbsent(
  store: WritableStore,
  record: LockRecord,
  options: StoreOptions,
): Promise<boolean | undefined> {
  try {
    return await store.setIfAbsent?.(LOCK_NAME, encoded(record), options);
  } catch (error) {
    if (isZarrflowError(error, "unsupported-operation")) return undefined;
    throw error;
  }
}

async function newRecord(): Promise<LockRecord> {
  const now = new Date().toISOString();
  return { owner: crypto.randomUUID(), ...(await thisProcess()), begun: now, renewed: now };
}

async function thisProcess(): Promise<Pick<LockRecord, "host" | "pid">> {
  if (globalThis.process?.versions?.node === undefined) return {};
  const { hostname } = await import("node:os");
  return { host: hostname(), pid: process.pid };
}

function fieldsOf(bytes: Uint8Array): Partial<Record<keyof LockRecord, unknown>> {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    return {};
  }
}

function encoded(record: LockRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record));
}

function lost(store: Store, other: LockRecord | undefined): ZarrflowError {
  return new ZarrflowError("locked", "the target was taken over while it was being written", {
    store: store.description,
    found: other ? holderOf(other) : "no lock any more",
    hint: "What is there may be of both runs: replace it.",
  });
}
