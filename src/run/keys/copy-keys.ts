import { isDocumentKey } from "../../hierarchy/edit/delete.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { outerPrefixes } from "../../meta/node-layout.ts";
import { otherFormatsWarning } from "../../plan/documents.ts";
import { copyMemory, pieceBytesWithin } from "../../plan/memory.ts";
import type { Plan } from "../../plan/plan.ts";
import { assertListable } from "../../stores/assertions.ts";
import type {
  KeyEntry,
  ListableStore,
  ListOptions,
  Store,
  StoredValue,
  StoreOptions,
  WritableStore,
} from "../../stores/store.ts";
import { isZip, writerMemory } from "../../stores/store-traits.ts";
import { copySource } from "../../stores/with/wrapped-errors.ts";
import { largestPooled, pooledSize } from "../../streams/buffer-pool.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { followSignals, throwIfAborted } from "../../util/abort.ts";
import { BlockingIo, processSync } from "../../util/blocking-io.ts";
import type { Buffers } from "../../util/bytes.ts";
import { crc32 } from "../../util/crc32.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { pagesAhead, pagesFrom, type ReadableStream } from "../../util/web-streams.ts";
import type { RunLog } from "../run-log.ts";
import { changed, copyValue, moreMemory, readInto } from "./copy-value.ts";
import { folderCheck, keysToCopy, ListedChunks, listWanted } from "./keys-to-copy.ts";

/** Number of keys that are listed ahead of copying at most. */
const MAX_AHEAD = 10_000;

export interface AllKeysOptions extends StoreOptions {
  /** The documents that the run publishes itself, and so does not copy. */
  readonly documents: Documents;
  /** If true, documents among the keys that are not part of the hierarchy are copied after all other keys. */
  readonly documentsLast: boolean;
  /** True for target keys that this process copies, if others copy the rest; by default all. */
  readonly hasKey?: ((key: string) => boolean) | undefined;
}

/** Copies all keys that a plan copies unchanged. */
export class AllKeys {
  readonly #source: ListableStore;
  readonly #plan: Plan;
  readonly #options: AllKeysOptions;
  readonly #stop = new AbortController();
  readonly #following: ReturnType<typeof followSignals>;
  readonly #chunks = new ListedChunks();
  readonly #otherFormats = new Set<string>();
  #areLate = false;
  #ahead: ReadableStream<readonly KeyToCopy[]> | undefined;

  /** @param source a store that can list its keys */
  constructor(source: Parameters<typeof assertListable>[0], plan: Plan, options: AllKeysOptions) {
    this.#source = assertListable(source);
    this.#plan = plan;
    this.#options = options;
    this.#following = followSignals(options.signal, this.#stop.signal);
  }

  /** Starts the listing while other work precedes the copying. */
  listAhead(): void {
    this.#ahead = pagesAhead(this.#listed(false), MAX_AHEAD);
  }

  /** @throws as `copyKeys` */
  async copyTo(
    target: WritableStore,
    options: Omit<CopyKeysOptions, "listed" | "concurrency" | "writerBytes">,
  ): Promise<void> {
    const { execution, jobs } = this.#plan;
    const writerBytes = writerMemory(this.#plan.target.store);
    const copying = { ...options, concurrency: execution.concurrency, writerBytes };
    await copyKeys(this.#source, target, { ...copying, listed: this.#ahead ?? this.#listed(false) });
    this.#chunks.noteMissing(this.#source, jobs);
    if (this.#areLate) await copyKeys(this.#source, target, { ...copying, listed: this.#listed(true) });
    const warning = otherFormatsWarning(this.#plan, [...this.#otherFormats]);
    if (warning) options.log.emit({ type: "warning", ...warning });
  }

  /** Ends a listing that is not read to its end. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#ahead?.cancel().catch(() => {});
    this.#following.end();
  }

  /** Lists either the keys that are copied first, or the late documents. */
  async *#listed(late: boolean): AsyncGenerator<readonly KeyToCopy[]> {
    const { source, target, publication } = this.#plan;
    const { documents, documentsLast, hasKey = () => true } = this.#options;
    const layout = formatNamed(publication.zarrFormat).layout(target.path);
    const isLate = (key: string) => documentsLast && isDocumentKey(key, layout);
    const anyTargetKeyOf = keysToCopy(this.#plan, documents, {
      onChunk: late ? undefined : this.#chunks.count,
      onOtherFormat: (key) => this.#otherFormats.add(key),
    });
    const targetKeyOf = (key: string) => {
      const targetKey = anyTargetKeyOf(key);
      if (targetKey === undefined || (!key.endsWith("/") && !hasKey(targetKey))) return undefined;
      if (isLate(targetKey) === late) return targetKey;
      this.#areLate = true;
      return undefined;
    };
    const { signal } = this.#following;
    const options = { targetKeyOf, onFolder: folderCheck(this.#plan), asStored: isZip(target.store), signal };
    for (const prefix of outerPrefixes(formatNamed(publication.from).layout(source.path))) {
      yield* listKeysToCopy(this.#source, { ...options, prefix });
    }
  }
}

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
    const isRemote = source.getSync === undefined;
    const free = size > pieceBytes ? (budget.limit - budget.leased) / 2 : 0;
    const wanted = moreMemory(free, { size, pieceBytes, writerBytes, isRemote });
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
    "the CRC-32 of the value differs from the one that its store listed",
    {
      expected: hex(expected),
      found: hex(found),
    },
  );
}

/** A value to copy, and its key in the target. */
export interface KeyToCopy extends KeyEntry {
  readonly targetKey: string;
}

export interface SmallCopyOptions {
  readonly source: Store;
  readonly target: WritableStore;
  /** Larger values are passed on. */
  readonly smallBytes: number;
  /** True if the ledger has no checksums. */
  readonly skipChecksum: boolean;
  readonly buffers: Buffers;
  readonly log: RunLog;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Copies values one by one while both stores answer without waiting. Yields the rest: large values, and those that
 * could not be copied this way for any reason.
 */
export async function* copySmallValues(
  pages: AsyncIterable<readonly KeyToCopy[]>,
  options: SmallCopyOptions,
): AsyncGenerator<KeyToCopy> {
  const { source, target, smallBytes, buffers, signal } = options;
  if (smallBytes === 0 || !source.getSync || !target.setSync) {
    for await (const page of pages) yield* page;
    return;
  }
  const buffer = buffers.take(smallBytes);
  try {
    yield* processSync(pages, (value) => copySmallValue(value, buffer, options), signal);
  } finally {
    buffers.give(buffer);
  }
}

/** Size of a value that was copied; undefined if it was not, which leaves nothing to undo. */
function copySmallValue(
  { key, size: listed, targetKey }: KeyToCopy,
  buffer: Uint8Array,
  { source, target, skipChecksum, log }: SmallCopyOptions,
): number | undefined {
  if (listed !== undefined && listed > buffer.length) return undefined;
  const bytes = readInto(source, key, buffer);
  if (bytes === undefined || (listed !== undefined && bytes.length !== listed)) return undefined;
  if (!target.setSync?.(targetKey, bytes)) return undefined;
  log.keyCopied(targetKey, bytes.length, skipChecksum ? undefined : crc32(bytes));
  return bytes.length;
}

export interface CopyReadOptions {
  readonly source: Store;
  readonly target: WritableStore;
  /** Larger values are left to the caller. */
  readonly mostBytes: number;
  /** True if the ledger has no checksums. */
  readonly skipChecksum: boolean;
  readonly budget: ByteBudget;
  readonly buffers: Buffers;
  readonly log: RunLog;
}

/**
 * Copies values from a source that can be read synchronously to a target that cannot be written synchronously. One
 * blocking read replaces four asynchronous calls.
 */
export class SyncCopier {
  readonly #options: CopyReadOptions;
  /** Assumed size of values whose size is not listed: the largest seen so far. */
  #likely = 0;
  readonly #concurrency = new BlockingIo();

  constructor(options: CopyReadOptions) {
    this.#options = options;
  }

  /** Notes the size of a value; others may have the same. */
  noteSize(size: number): void {
    if (size <= this.#options.mostBytes) this.#likely = Math.max(this.#likely, size);
  }

  /**
   * Copies a value if it can. Returns false if it has written nothing.
   *
   * @throws what the target throws; `aborted`.
   */
  async copy({ key, size: listed, targetKey }: KeyToCopy, signal: AbortSignal): Promise<boolean> {
    const { source, target, mostBytes, skipChecksum, budget, buffers, log } = this.#options;
    const most = listed ?? this.#likely;
    if (!source.getSync || target.setSync || most === 0 || most > mostBytes || this.#concurrency.isSlow)
      return false;
    const lease = await budget.acquire(pooledSize(most), signal);
    const buffer = buffers.take(most);
    try {
      const bytes = this.#concurrency.attempt(
        (into) => readInto(source, key, into),
        buffer,
        ({ length }) => length,
      );
      if (bytes === undefined || bytes.length !== (listed ?? bytes.length)) return false;
      const checksum = skipChecksum ? undefined : crc32(bytes);
      await target.set(targetKey, bytes, { signal });
      log.keyCopied(targetKey, bytes.length, checksum);
      return true;
    } finally {
      buffers.give(buffer);
      lease.release();
    }
  }
}
