import type { Store } from "../stores/store.ts";
import { mapConcurrent } from "../streams/map-concurrent.ts";
import { streamFrom, WritableStream } from "../streams/web.ts";
import type { Buffers } from "../util/buffers.ts";
import { crc32 } from "../util/crc32.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";

export interface VerifyOptions {
  readonly buffers: Buffers;
  readonly io: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with how many keys are right so far. */
  readonly onKeys?: (keys: number) => void;
}

/**
 * Reads back every key of a ledger and compares size and checksum.
 *
 * @returns how many keys were compared
 * @throws `differs` naming the first key that is not what was written.
 */
export async function verifyLedger(
  store: Store,
  ledger: Ledger,
  { buffers, io, signal, onKeys }: VerifyOptions,
): Promise<number> {
  let keys = 0;
  const check = async ({ key, size, crc32: expected }: LedgerEntry, context: { signal: AbortSignal }) => {
    const allocate = (byteLength: number) => buffers.take(byteLength);
    const bytes = await store.get(key, { allocate, signal: context.signal });
    if (bytes?.length !== size || crc32(bytes) !== expected) {
      throw new ZarrflowError("differs", "what was read back is not what was written", {
        key,
        expected: `${size} bytes, CRC-32 ${expected.toString(16)}`,
        found: bytes ? `${bytes.length} bytes, CRC-32 ${crc32(bytes).toString(16)}` : "nothing",
      });
    }
    buffers.give(bytes);
    keys++;
    onKeys?.(keys);
  };
  await streamFrom(ledger.entries())
    .pipeThrough(mapConcurrent(check, { concurrency: io, signal }))
    .pipeTo(new WritableStream<void>());
  return keys;
}
