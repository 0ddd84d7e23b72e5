import type { Store } from "../../stores/store.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import type { Buffers } from "../../util/buffers.ts";
import { crc32 } from "../../util/crc32.ts";
import { type ErrorDetails, isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { pieceBytesWithin, pieceMemory, readPieces } from "../keys/read-pieces.ts";
import type { Ledger, LedgerEntry } from "./ledger/ledger.ts";

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
  return new ZarrflowError("differs", "the data read back differ from the data written", { key, ...figures });
}

function crcText(checksum: number): string {
  return `CRC-32 ${checksum.toString(16)}`;
}
