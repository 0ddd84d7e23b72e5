import { type ProcessRecord, processRecordOf } from "../stores/files/process-record.ts";
import { files } from "../stores/files.node.ts";
import { LOCK_NAME } from "../stores/reserved-names.ts";
import { type Store, type StoreOptions, valueAtMost } from "../stores/store.ts";
import { isZarrflowError } from "../util/errors.ts";

/** Size in bytes of the largest lock record. */
const MAX_LOCK = 64 * 1024;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

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
  return UUID.test(owner) && [begun, renewed].every((time) => Number.isFinite(Date.parse(time)));
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
