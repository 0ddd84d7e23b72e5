import { abortError } from "../../util/abort.ts";
import { mergeRanges, type RangeReader, type RangeReadOptions } from "../../util/byte-range.ts";
import { readForAll, soon } from "../shared-read.ts";
import { MAX_HELD } from "../store-traits.ts";

/**
 * Entries of up to this many bytes are read together with the bytes after them, up to `AHEAD`, because metadata
 * documents are adjacent.
 */
const SMALL_BYTES = 4 * 1024;
const AHEAD = 32 * 1024;

export interface EntryReadOptions extends RangeReadOptions {
  /** True if the range is a whole entry: then the next entries are likely to be read too. */
  readonly isEntry?: boolean;
}

interface Read extends EntryReadOptions {
  readonly range: { readonly offset: number; readonly length: number };
  readonly signal: AbortSignal | undefined;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (reason: unknown) => void;
}

/** Bytes of the archive from an offset. */
interface Window {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/**
 * Reads ranges of a remote value in few requests. Ranges that are requested at the same time and near each other
 * become one request. A small entry is read with the bytes after it, which are kept for the next reads.
 */
export class NearReads implements RangeReader {
  readonly size: number;
  readonly remote = true;
  readonly #reader: RangeReader;
  #waiting: Read[] = [];
  #held = 0;
  /** The last bytes that were read ahead. */
  #ahead: Window | undefined;
  /** Bytes that callers of `hold` have read and keep. */
  readonly #windows = new Set<Window>();

  constructor(reader: RangeReader) {
    this.#reader = reader;
    this.size = reader.size;
  }

  read(offset: number, length: number, options: EntryReadOptions = {}): Promise<Uint8Array> {
    const known = this.#known(offset, length, options.into);
    if (known) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) soon(() => this.#send());
      const { signal } = options;
      this.#waiting.push({ range: { offset, length }, ...options, signal, resolve, reject });
    });
  }

  /**
   * Fills `bytes` from an offset with one request. Ranges that are completely inside are read from there, until
   * the returned function is called.
   */
  async hold(bytes: Uint8Array, offset: number, { signal }: RangeReadOptions = {}): Promise<() => void> {
    const found = await this.#reader.read(offset, bytes.length, { into: bytes, signal });
    if (found !== bytes) bytes.set(found);
    const window = { offset, bytes };
    this.#windows.add(window);
    return () => void this.#windows.delete(window);
  }

  #known(offset: number, length: number, into: Uint8Array | undefined): Uint8Array | undefined {
    for (const window of this.#windows) {
      const part = partOf(window, offset, length, into);
      if (part) return part;
    }
    return this.#ahead && partOf(this.#ahead, offset, length, into);
  }

  async version(): Promise<string | undefined> {
    return this.#reader.version?.();
  }

  async close(): Promise<void> {
    await this.#reader.close?.();
  }

  /** Sends the reads that were requested since the last call. */
  #send(): void {
    const asked = this.#waiting.filter((read) => !rejectedByNow(read));
    this.#waiting = [];
    for (const { offset, length, parts: reads } of mergeRanges(asked)) {
      const isFew = length <= SMALL_BYTES && reads.some(({ isEntry }) => isEntry);
      if (isFew) this.#together(reads, offset, Math.min(AHEAD, this.size - offset), true);
      else if (reads.length > 1 && this.#held + length <= MAX_HELD) this.#together(reads, offset, length);
      else for (const read of reads) this.#alone(read);
    }
  }

  #alone({ range: { offset, length }, resolve, reject, ...options }: Read): void {
    this.#reader.read(offset, length, options).then(resolve, reject);
  }

  /** Reads one range, and resolves each of `reads` with its part. */
  async #together(reads: readonly Read[], offset: number, length: number, isAhead = false): Promise<void> {
    this.#held += length;
    try {
      const bytes = await readForAll(reads, (signal) => this.#reader.read(offset, length, { signal }));
      const window = { offset, bytes };
      if (isAhead) this.#ahead = window;
      for (const read of reads) {
        const part = partOf(window, read.range.offset, read.range.length, read.into);
        if (part) read.resolve(part);
      }
    } catch (error) {
      for (const { reject } of reads) reject(error);
    } finally {
      this.#held -= length;
    }
  }
}

function rejectedByNow({ signal, reject }: Read): boolean {
  if (signal?.aborted) reject(abortError(signal.reason));
  return signal?.aborted ?? false;
}

/** Copies a part of a window; undefined if it is not completely inside. */
function partOf(
  { offset: start, bytes }: Window,
  offset: number,
  length: number,
  into: Uint8Array | undefined,
): Uint8Array | undefined {
  if (offset < start || offset + length > start + bytes.length) return undefined;
  const part = bytes.subarray(offset - start, offset - start + length);
  if (into === undefined) return new Uint8Array(part);
  into.set(part);
  return into;
}
