import type { Documents } from "../meta/format.ts";
import { pieceBytesWithin, pieceMemory } from "../plan/memory.ts";
import type { Plan } from "../plan/plan.ts";
import { isReservedKey, JOINT_PREFIX } from "../stores/reserved-names.ts";
import { isListable, type Store, type StoreOptions } from "../stores/store.ts";
import type { BufferPool } from "../streams/buffer-pool.ts";
import type { ByteBudget } from "../streams/byte-budget.ts";
import { forEachConcurrent } from "../streams/for-each-concurrent.ts";
import type { Buffers } from "../util/bytes.ts";
import { crc32 } from "../util/crc32.ts";
import { type ErrorDetails, isZarrflowError, ZarrflowError } from "../util/errors.ts";
import type { RunReport } from "./events.ts";
import { readPieces } from "./keys/copy-value.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import type { RunLog } from "./run-log.ts";
import type { Verification } from "./run-options.ts";
import type { VerifyValuesOptions } from "./verify-values.ts";

/** Counts of keys and arrays that were read back and verified. */
export type Verified = Pick<RunReport, "keysVerified" | "arraysVerified">;

export interface VerifyTargetOptions
  extends Pick<VerifyLedgerOptions, "budget" | "signal">,
    Pick<VerifyValuesOptions, "source" | "target" | "documents"> {
  readonly verify: Verification;
  readonly buffers: BufferPool;
  readonly log: RunLog;
  /** Counts from an earlier verification; more keys may have been written since. */
  readonly before?: Verified | undefined;
}

/**
 * Reads back the output of a run, to the extent that `verify` requests.
 *
 * @throws as `verifyLedger` and `verifyValues`.
 */
export async function verifyTarget(
  plan: Plan,
  { verify, log, before = {}, budget, buffers, signal, ...stores }: VerifyTargetOptions,
): Promise<Verified> {
  if (verify === false) return before;
  const { concurrency } = plan.execution;
  const onKeys = (keys: number) => log.keysVerified(keys);
  const done = before.keysVerified ?? 0;
  const keysVerified = await verifyLedger(stores.target, log.ledger, {
    budget,
    buffers,
    concurrency,
    signal,
    onKeys,
    done,
  });
  if (verify !== "values" || before.arraysVerified !== undefined) return { ...before, keysVerified };
  buffers.clear();
  const onEvent = log.emit.bind(log);
  const { verifyValues } = await import("./verify-values.ts");
  const arraysVerified = await verifyValues(plan, { ...stores, maxMemory: budget.limit, onEvent, signal });
  return { keysVerified, arraysVerified };
}

export interface VerifyLedgerOptions {
  readonly budget: ByteBudget;
  readonly buffers: Buffers;
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of keys verified so far. */
  readonly onKeys?: (keys: number) => void;
  /** Number of keys at the beginning of the ledger that were verified before. */
  readonly done?: number;
}

/**
 * Reads back every key of a ledger and compares size and checksum.
 *
 * @returns the number of verified keys, including those verified before
 * @throws `differs` naming the first key that differs from what was written.
 */
export async function verifyLedger(
  store: Store,
  ledger: Ledger,
  { budget, buffers, concurrency, signal, onKeys, done = 0 }: VerifyLedgerOptions,
): Promise<number> {
  const pieceBytes = pieceBytesWithin(budget.limit);
  let keys = done;
  const check = async ({ key, size, crc32: expected }: LedgerEntry, context: { signal: AbortSignal }) => {
    const lease = await budget.acquire(pieceMemory(size, pieceBytes), context.signal);
    let found = 0;
    try {
      const options = { size, pieceBytes, buffers, signal: context.signal };
      for await (const bytes of readPieces(store, key, options)) found = crc32(bytes, found);
    } catch (error) {
      throw isZarrflowError(error, "source-changed") ? differs(key, error.details) : error;
    } finally {
      lease.release();
    }
    if (expected !== undefined && found !== expected) {
      throw differs(key, { expected: crcText(expected), found: crcText(found) });
    }
    keys++;
    onKeys?.(keys);
  };
  await forEachConcurrent(entriesAfter(ledger, done), check, { concurrency, signal });
  return keys;
}

async function* entriesAfter(ledger: Ledger, done: number): AsyncGenerator<LedgerEntry> {
  let number = 0;
  for await (const entry of ledger.entries()) if (number++ >= done) yield entry;
}

function differs(key: string, { expected, found }: ErrorDetails): ZarrflowError {
  const figures = { ...(expected !== undefined && { expected }), ...(found !== undefined && { found }) };
  return new ZarrflowError("differs", "the data read back differs from the data written", {
    key,
    ...figures,
  });
}

function crcText(checksum: number): string {
  return `CRC-32 ${checksum.toString(16)}`;
}

/**
 * Asserts that no other program changed a target that is written in place. Compares the count and size of its keys,
 * without documents, with what this run and the runs that it resumes have written. A change that keeps both numbers
 * is found only by verification, which reads the values back.
 *
 * @throws `differs`
 */
export async function assertSoleWriter(
  store: Store,
  { keys, bytes }: { readonly keys: number; readonly bytes: number },
  { documents, ...options }: StoreOptions & { readonly documents: Documents },
): Promise<void> {
  if (!isListable(store)) return;
  const found = { keys: 0, bytes: 0 };
  for await (const { key, size } of store.list("", options)) {
    if (documents.has(key) || isReservedKey(key) || key.startsWith(JOINT_PREFIX)) continue;
    found.keys++;
    found.bytes += size ?? (await store.size(key, options)) ?? 0;
  }
  if (found.keys === keys && found.bytes === bytes) return;
  throw new ZarrflowError("differs", "another program changed the target while it was being written", {
    store: store.description,
    expected: `${keys} keys of ${bytes} bytes`,
    found: `${found.keys} keys of ${found.bytes} bytes`,
    hint: "Copy again while no other program writes there.",
  });
}
