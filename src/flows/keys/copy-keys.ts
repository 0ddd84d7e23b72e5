import type { KeyEntry, ListableStore, ListOptions, StoredValue, WritableStore } from "../../stores/store.ts";
import { copySource } from "../../stores/with/wrapped-errors.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { largestPooled, pooledSize } from "../../streams/pooled-size.ts";
import { throwIfAborted } from "../../util/abort.ts";
import type { Buffers } from "../../util/buffers.ts";
import { crc32 } from "../../util/crc32.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { pagesFrom } from "../../util/web-streams.ts";
import type { RunLog } from "../run/run-log.ts";
import { copySmallValues, type KeyToCopy } from "./copy-small-values.ts";
import { SyncCopier } from "./copy-sync.ts";
import { copyMemory, copyValue, moreMemory } from "./copy-value.ts";
import { listWanted } from "./list-wanted.ts";
import { changed, pieceBytesWithin } from "./read-pieces.ts";

export interface CopyKeysOptions {
  /** The keys to copy, in pages. */
  readonly listed: AsyncIterable<readonly KeyToCopy[]>;
  /**
   * If true, the ledger needs no checksums of values, so stores that can copy values themselves may do so.
   *
   * @default false
   */
  readonly skipChecksum?: boolean;
  /** True for a value that the target already has, copied by an earlier run. */
  readonly isDone?: (value: StoredValue) => boolean;
  /** Aborted to stop copying after the current keys. */
  readonly stop?: AbortSignal | undefined;
  readonly budget: ByteBudget;
  readonly buffers: Buffers;
  readonly concurrency: number;
  /** Bytes that an open writer of the target holds. */
  readonly writerBytes: number;
  readonly log: RunLog;
  readonly signal?: AbortSignal | undefined;
}

type Context = { readonly signal: AbortSignal };

/** Values of up to this size are small: stores that do not need to wait copy them before others are looked at. */
const SMALL_BYTES = 1024 * 1024;
/** Limit for stores that can copy values themselves, which is as fast for larger values. */
const SMALL_BYTES_FOR_COPIERS = 32 * 1024;

export interface ListKeysOptions extends Pick<ListOptions, "asStored" | "onFolder" | "signal"> {
  /** Prefix of the keys to list. */
  readonly prefix: string;
  /** Maps a source key to its key in the target; undefined for a key that is not copied here. */
  readonly targetKeyOf: (key: string) => string | undefined;
}

/** Lists the keys of a source that are copied, in pages. */
export function listKeysToCopy(
  source: ListableStore,
  { prefix, targetKeyOf, ...options }: ListKeysOptions,
): AsyncGenerator<readonly KeyToCopy[]> {
  return keysToCopyFrom(pagesFrom(listWanted(source, prefix, targetKeyOf, options)), targetKeyOf);
}

/** Selects the listed keys that are copied, page by page. */
export async function* keysToCopyFrom(
  pages: AsyncIterable<readonly KeyEntry[]>,
  targetKeyOf: ListKeysOptions["targetKeyOf"],
): AsyncGenerator<readonly KeyToCopy[]> {
  for await (const page of pages) {
    yield page.flatMap((listed) => {
      const targetKey = targetKeyOf(listed.key);
      return targetKey === undefined ? [] : { ...listed, targetKey };
    });
  }
}

/**
 * Copies listed values of a source, byte for byte, never holding all keys in memory.
 *
 * @throws what the stores throw, with the key; `aborted` if stopped before the last key.
 */
export async function copyKeys(
  source: ListableStore,
  target: WritableStore,
  options: CopyKeysOptions,
): Promise<void> {
  const {
    listed,
    skipChecksum = false,
    isDone,
    stop,
    budget,
    buffers,
    concurrency,
    writerBytes,
    log,
    signal,
  } = options;
  const copier = skipChecksum ? await target.copierFrom?.(copySource(source)) : undefined;
  const mostSmall = copier ? SMALL_BYTES_FOR_COPIERS : SMALL_BYTES;
  // at most half of what a writer leaves; the rest is for pieces
  const smallBytes = Math.min(
    mostSmall,
    largestPooled(Math.min(budget.limit / 4, (budget.limit - writerBytes) / 2)),
  );
  const pieceBytes = pieceBytesWithin(budget.limit - writerBytes - smallBytes);

  const mostBytes = Math.min(SMALL_BYTES, largestPooled(budget.limit / (4 * concurrency)) - 1);
  const syncCopier = new SyncCopier({ source, target, mostBytes, skipChecksum, budget, buffers, log });

  const copySeen = async ({ key, size: listed, crc32: expected, targetKey }: KeyToCopy, context: Context) => {
    const size = listed ?? (await source.size(key, context));
    if (size === undefined) throw changed(key, undefined, undefined);
    syncCopier.noteSize(size);
    // A store that lists checksums verifies values that are read whole.
    const isChecked = expected === undefined || size <= pieceBytes;
    const lease = await budget.acquire(copyMemory(size, pieceBytes, writerBytes), context.signal);
    const isFar = source.getSync === undefined;
    const free = size > pieceBytes ? (budget.limit - budget.leased) / 2 : 0;
    const wanted = moreMemory(free, { size, pieceBytes, writerBytes, isFar });
    const more = budget.acquireNow(wanted.bytes);
    let checksum = 0;
    let seen = 0;
    try {
      const onPiece = (bytes: Uint8Array) => {
        if (skipChecksum && isChecked) return;
        checksum = crc32(bytes, checksum);
        seen += bytes.length;
        // Checked before the last piece is written: a damaged value must not be stored and recorded as intact.
        if (seen === size && checksum !== (expected ?? checksum)) throw damaged(expected, checksum);
      };
      await copyValue(
        { store: source, key },
        { store: target, key: targetKey },
        {
          size,
          pieceBytes,
          ...(more && { pieces: wanted.pieces, writerMemory: wanted.writer }),
          buffers,
          signal: context.signal,
          onPiece,
        },
      );
    } finally {
      more?.release();
      lease.release();
    }
    log.keyCopied(targetKey, size, skipChecksum ? undefined : checksum);
  };
  const copyUnseen = async (value: KeyToCopy, context: Context) => {
    const size = await copier?.(value, value.targetKey, context);
    if (size === undefined || size !== (value.size ?? size)) throw changed(value.key, value.size, size);
    log.keyCopied(value.targetKey, size);
  };
  const copy = async (value: KeyToCopy, context: Context) => {
    try {
      if (copier) await copyUnseen(value, context);
      else if (!(await syncCopier.copy(value, context.signal))) await copySeen(value, context);
    } catch (error) {
      if (isZarrflowError(error)) error.addContext({ key: value.key });
      throw error;
    }
  };
  const wanted = untilStopped(isDone ? notDone(listed, { source, isDone, log, signal }) : listed, stop);
  const lease = await budget.acquire(smallBytes === 0 ? 0 : pooledSize(smallBytes), signal);
  try {
    const left = copySmallValues(wanted, { source, target, skipChecksum, smallBytes, buffers, log, signal });
    await forEachConcurrent(left, copy, { concurrency, signal });
    throwIfAborted(stop);
  } finally {
    lease.release();
  }
}

async function* untilStopped<T>(pages: AsyncIterable<T>, stop: AbortSignal | undefined): AsyncGenerator<T> {
  for await (const page of pages) {
    if (stop?.aborted) return;
    yield page;
  }
}

interface DoneOptions
  extends Required<Pick<CopyKeysOptions, "isDone">>,
    Pick<CopyKeysOptions, "log" | "signal"> {
  readonly source: ListableStore;
}

/** Yields the values that the target does not have yet. */
async function* notDone(
  pages: AsyncIterable<readonly KeyToCopy[]>,
  { source, isDone, log, signal }: DoneOptions,
): AsyncGenerator<readonly KeyToCopy[]> {
  for await (const page of pages) {
    const left: KeyToCopy[] = [];
    for (const value of page) {
      const size = value.size ?? (await source.size(value.key, { signal }));
      if (size !== undefined && isDone({ key: value.targetKey, size })) log.keyResumed(value.targetKey, size);
      else left.push(value);
    }
    yield left;
  }
}

/**
 * Error for a value whose checksum differs from the listed one. Stores do not verify values that are read in pieces.
 */
function damaged(expected: number | undefined, found: number): ZarrflowError {
  const hex = (crc: number | undefined) => crc?.toString(16).padStart(8, "0");
  return new ZarrflowError(
    "corrupt-store",
    "the CRC-32 of the value differs from the one listed by its store",
    {
      expected: hex(expected),
      found: hex(found),
    },
  );
}
