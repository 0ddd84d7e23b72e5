import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { pause } from "../../util/pause.ts";
import { isRunning } from "../is-running.ts";
import { LOCK_NAME } from "../own-names.ts";
import type { Store, StoreOptions, WritableStore } from "../store.ts";

/** Milliseconds after which a run renews its lock. */
const RENEW_AFTER = 60_000;
/** Milliseconds after which a lock that nobody has renewed counts for nothing; clocks may differ by some. */
const STALE_AFTER = 15 * 60_000;
/** Milliseconds in which a store tells who holds its lock, or is gone. */
const TOLD_WITHIN = 5_000;
/** Milliseconds after which one of two runs that took over a dead run's lock at once finds that it lost. */
const SETTLED_AFTER = 2_000;

/** Who writes at a place. */
export interface LockRecord {
  /** A name for the run, different each time. */
  readonly owner: string;
  /** The machine and the process, where they can be told. */
  readonly host?: string;
  readonly pid?: number;
  readonly begun: string;
  readonly renewed: string;
}

/** A place that one run alone writes at. */
export class PrefixLock {
  readonly #store: WritableStore;
  readonly #record: LockRecord;
  readonly #renewal: ReturnType<typeof setInterval>;
  #renewing: Promise<void> = Promise.resolve();

  private constructor(store: WritableStore, record: LockRecord) {
    this.#store = store;
    this.#record = record;
    this.#renewal = setInterval(() => {
      this.#renewing = this.#renew();
    }, RENEW_AFTER);
    (this.#renewal as { unref?: () => void }).unref?.();
  }

  /**
   * Locks the root of a store; undefined where the store knows no conditional writes. The lock of a run that is dead
   * is taken over.
   *
   * @throws `locked` while another run writes there.
   */
  static async take(store: WritableStore, options: StoreOptions = {}): Promise<PrefixLock | undefined> {
    const record = await newRecord();
    for (let isTakeover = false; ; isTakeover = true) {
      const isTaken = await setIfAbsent(store, record, options);
      if (isTaken === undefined) return undefined;
      // An attempt whose answer was lost may have taken it.
      if (isTaken || (await readLock(store, options))?.owner === record.owner) {
        const lock = new PrefixLock(store, record);
        if (isTakeover) await lock.#settle(options);
        return lock;
      }
      await demandUnlocked(store, options);
      await store.delete(LOCK_NAME, options);
    }
  }

  /** @throws `locked` when another run removed this one's lock for the dead run's. */
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
    const found = await readLock(this.#store, options);
    if (found?.owner !== this.#record.owner) throw lost(this.#store, found);
  }

  /** Whether the place is still this run's. Fails when the store does not tell soon: who asks wants to end. */
  async isHeld(): Promise<boolean> {
    const signal = AbortSignal.timeout(TOLD_WITHIN);
    return (await readLock(this.#store, { signal }))?.owner === this.#record.owner;
  }

  /** Gives the place free; one that is another's stays so. */
  async release(): Promise<void> {
    clearInterval(this.#renewal);
    await this.#renewing;
    if (await this.isHeld()) await this.#store.delete(LOCK_NAME);
  }

  /** Fails silently: whether the place is still held is asked in the end. */
  async #renew(): Promise<void> {
    try {
      if (!(await this.isHeld())) return clearInterval(this.#renewal);
      await this.#store.set(LOCK_NAME, encoded({ ...this.#record, renewed: new Date().toISOString() }));
    } catch {
      // the next time, or when it is demanded
    }
  }
}

/** The lock in the root of a store, if there is one. */
export async function readLock(store: Store, options: StoreOptions = {}): Promise<LockRecord | undefined> {
  const bytes = await store.get(LOCK_NAME, options);
  if (bytes === undefined) return undefined;
  const { owner, host, pid, begun, renewed } = fieldsOf(bytes);
  return {
    owner: String(owner),
    ...(typeof host === "string" && { host }),
    ...(typeof pid === "number" && { pid }),
    begun: String(begun),
    renewed: String(renewed),
  };
}

/** Who holds a lock, in words. */
export function holderOf({ host, pid, begun, renewed }: LockRecord): string {
  const who = host === undefined ? "another run" : `process ${pid} on ${host}`;
  return `${who}, begun ${begun}, last seen ${renewed}`;
}

/** Checks that no other run is at work in a store. @throws `locked` */
export async function demandUnlocked(store: Store, options: StoreOptions = {}): Promise<void> {
  const other = await readLock(store, options);
  if (other === undefined || (await isDead(other))) return;
  throw new ZarrflowError("locked", "another run writes at the target", {
    store: store.description,
    found: holderOf(other),
    hint: `Wait for it. If it is dead, remove ${LOCK_NAME} there; after ${STALE_AFTER / 60_000} minutes without a sign of it that is done by itself.`,
  });
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

/** Whether the run that has left a lock is over: its process is gone, or it has not been heard of for long. */
async function isDead({ host, pid, renewed }: LockRecord): Promise<boolean> {
  const age = Date.now() - Date.parse(renewed);
  if (!(age < STALE_AFTER)) return true;
  const own = await thisProcess();
  return own.host !== undefined && host === own.host && pid !== undefined && !isRunning(pid);
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
