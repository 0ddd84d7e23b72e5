import { copyMemory, pieceBytesWithin } from "../../plan/memory.ts";
import type { KeyEntry, Store, StoreOptions, ValueCopier, WritableStore } from "../../stores/store.ts";
import { copySource } from "../../stores/with/wrapped-errors.ts";
import { largestPooled, pooledSize } from "../../streams/buffer-pool.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import { BlockingIo, processSync } from "../../util/blocking-io.ts";
import type { Buffers } from "../../util/bytes.ts";
import { crc32 } from "../../util/crc32.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { RunLog } from "../run-log.ts";
import { changed, copyValue, moreMemory, readInto } from "./copy-value.ts";

/** Values of up to this size are small: stores that do not need to wait copy them before others are looked at. */
const SMALL_BYTES = 1024 * 1024;
/** Limit for stores that can copy values themselves, which is as fast for larger values. */
const SMALL_BYTES_FOR_COPIERS = 32 * 1024;

/** A value to copy, and its key in the target. */
export interface KeyToCopy extends KeyEntry {
  readonly targetKey: string;
}

export interface KeyCopierOptions {
  readonly source: Store;
  readonly target: WritableStore;
  /**
   * If true, the ledger needs no checksums of values, so stores that can copy values themselves may do so.
   *
   * @default false
   */
  readonly skipChecksum?: boolean;
  readonly budget: ByteBudget;
  readonly buffers: Buffers;
  readonly concurrency: number;
  /** Bytes that an open writer of the target holds. */
  readonly writerBytes: number;
  readonly log: RunLog;
}

/** Copies values byte for byte, each in the quickest way that its two stores allow. */
export class KeyCopier {
  readonly #options: KeyCopierOptions;
  /** Lets the target copy values itself. */
  readonly #copier: ValueCopier | undefined;
  readonly #smallBytes: number;
  readonly #pieceBytes: number;
  /** Maximum size of values that are read with a blocking call while others are being written. */
  readonly #mostRead: number;
  /** Assumed size of values whose size is not listed: the largest seen so far. */
  #likely = 0;
  readonly #reads = new BlockingIo();

  private constructor(options: KeyCopierOptions, copier: ValueCopier | undefined) {
    const { budget, concurrency, writerBytes } = options;
    this.#options = options;
    this.#copier = copier;
    // at most half of what a writer leaves; the rest is for pieces
    this.#smallBytes = Math.min(
      copier ? SMALL_BYTES_FOR_COPIERS : SMALL_BYTES,
      largestPooled(Math.min(budget.limit / 4, (budget.limit - writerBytes) / 2)),
    );
    this.#pieceBytes = pieceBytesWithin(budget.limit - writerBytes - this.#smallBytes);
    this.#mostRead = Math.min(SMALL_BYTES, largestPooled(budget.limit / (4 * concurrency)) - 1);
  }

  static async open(options: KeyCopierOptions): Promise<KeyCopier> {
    const { source, target, skipChecksum = false } = options;
    const copier = skipChecksum ? await target.copierFrom?.(copySource(source)) : undefined;
    return new KeyCopier(options, copier);
  }

  /**
   * Copies small values one by one while both stores answer without waiting. Yields the rest, for `copy`: large
   * values, and those that could not be copied this way for any reason.
   */
  async *copySmall(
    pages: AsyncIterable<readonly KeyToCopy[]>,
    { signal }: StoreOptions,
  ): AsyncGenerator<KeyToCopy> {
    const { source, target, budget, buffers } = this.#options;
    if (this.#smallBytes === 0 || !source.getSync || !target.setSync) {
      for await (const page of pages) yield* page;
      return;
    }
    const lease = await budget.acquire(pooledSize(this.#smallBytes), signal);
    const buffer = buffers.take(this.#smallBytes);
    const attempt = (value: KeyToCopy) => {
      const bytes = this.#readNow(value, buffer);
      if (bytes === undefined || !target.setSync?.(value.targetKey, bytes)) return undefined;
      this.#copied(value, bytes.length, this.#checksumOf(bytes));
      return bytes.length;
    };
    try {
      yield* processSync(pages, attempt, signal);
    } finally {
      buffers.give(buffer);
      lease.release();
    }
  }

  /** @throws what the stores throw, with the key; `source-changed` if a value no longer has its listed size. */
  async copy(value: KeyToCopy, context: { readonly signal: AbortSignal }): Promise<void> {
    try {
      if (this.#copier) await this.#copyUnread(value, this.#copier, context);
      else if (!(await this.#copyReadNow(value, context))) await this.#copyPieces(value, context);
    } catch (error) {
      if (isZarrflowError(error)) error.addContext({ key: value.key });
      throw error;
    }
  }

  async #copyUnread(value: KeyToCopy, copier: ValueCopier, context: StoreOptions): Promise<void> {
    const size = await copier(value, value.targetKey, context);
    if (size === undefined || size !== (value.size ?? size)) throw changed(value.key, value.size, size);
    this.#copied(value, size, undefined);
  }

  /**
   * Copies a value from a source that can be read with blocking calls to a target that cannot be written so: one
   * blocking read replaces four asynchronous calls. Returns false if nothing was written.
   */
  async #copyReadNow(value: KeyToCopy, { signal }: { readonly signal: AbortSignal }): Promise<boolean> {
    const { source, target, budget, buffers } = this.#options;
    const most = value.size ?? this.#likely;
    if (!source.getSync || target.setSync || most === 0 || most > this.#mostRead || this.#reads.isSlow)
      return false;
    const lease = await budget.acquire(pooledSize(most), signal);
    const buffer = buffers.take(most);
    try {
      const read = (into: Uint8Array) => this.#readNow(value, into);
      const bytes = this.#reads.attempt(read, buffer, ({ length }) => length);
      if (bytes === undefined) return false;
      const checksum = this.#checksumOf(bytes);
      await target.set(value.targetKey, bytes, { signal });
      this.#copied(value, bytes.length, checksum);
      return true;
    } finally {
      buffers.give(buffer);
      lease.release();
    }
  }

  async #copyPieces(value: KeyToCopy, context: { readonly signal: AbortSignal }): Promise<void> {
    const { source, target, budget, buffers, skipChecksum = false, writerBytes } = this.#options;
    const pieceBytes = this.#pieceBytes;
    const { key, targetKey, crc32: expected } = value;
    const size = value.size ?? (await source.size(key, context));
    if (size === undefined) throw changed(key, undefined, undefined);
    if (size <= this.#mostRead) this.#likely = Math.max(this.#likely, size);
    // A store that lists checksums verifies values that are read whole.
    const isChecked = expected === undefined || size <= pieceBytes;
    const lease = await budget.acquire(copyMemory(size, pieceBytes, writerBytes), context.signal);
    const isRemote = source.getSync === undefined;
    const free = size > pieceBytes ? (budget.limit - budget.leased) / 2 : 0;
    const wanted = moreMemory(free, { size, pieceBytes, writerBytes, isRemote });
    const more = budget.acquireNow(wanted.bytes);
    let checksum = 0;
    let seen = 0;
    const onPiece = (bytes: Uint8Array) => {
      if (skipChecksum && isChecked) return;
      checksum = crc32(bytes, checksum);
      seen += bytes.length;
      // Checked before the last piece is written: a damaged value must not be stored and recorded as intact.
      if (seen === size && checksum !== (expected ?? checksum)) throw damaged(expected, checksum);
    };
    try {
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
    this.#copied(value, size, skipChecksum ? undefined : checksum);
  }

  /** Reads a value of the listed size with a blocking call; undefined if that is not possible. */
  #readNow({ key, size }: KeyToCopy, into: Uint8Array): Uint8Array | undefined {
    if (size !== undefined && size > into.length) return undefined;
    const bytes = readInto(this.#options.source, key, into);
    return size === undefined || bytes?.length === size ? bytes : undefined;
  }

  #checksumOf(bytes: Uint8Array): number | undefined {
    return this.#options.skipChecksum ? undefined : crc32(bytes);
  }

  #copied({ targetKey }: KeyToCopy, size: number, checksum: number | undefined): void {
    this.#options.log.keyCopied(targetKey, size, checksum);
  }
}

/**
 * Error for a value whose checksum differs from the listed one. Stores do not verify values that are read in pieces.
 */
function damaged(expected: number | undefined, found: number): ZarrflowError {
  const hex = (crc: number | undefined) => crc?.toString(16).padStart(8, "0");
  return new ZarrflowError(
    "corrupt-store",
    "the CRC-32 of the value differs from the one that its store listed",
    {
      expected: hex(expected),
      found: hex(found),
    },
  );
}
