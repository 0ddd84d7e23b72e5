import { abortError } from "../../util/abort.ts";
import type { RangeReader, RangeReadOptions } from "../../util/byte-range.ts";
import { mergeRanges } from "../../util/merge-ranges.ts";
import { readForAll, soon } from "../shared-read.ts";
import { MAX_HELD } from "../store-memory.ts";

/** Entries of so few bytes are read with those behind them, up to `AHEAD`: metadata documents lie side by side. */
const SMALL_BYTES = 4 * 1024;
const AHEAD = 32 * 1024;

export interface EntryReadOptions extends RangeReadOptions {
  /** Whether the range is a whole entry: then the next ones are likely to be read, too. */
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
 * Reads ranges of a value far away in few requests: those asked for at the same time that lie near one another are one
 * request, and a small entry brings what is behind it, which is kept for the next.
 */
export class NearReads implements RangeReader {
  readonly size: number;
  readonly remote = true;
  readonly #reader: RangeReader;
  #waiting: Read[] = [];
  #held = 0;
  /** What was read ahead last. */
  #ahead: Window | undefined;
  /** What others have read, and hold. */
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
   * Fills `bytes` from an offset by one request; until the function that it returns is called, what lies whole in them
   * is read from there.
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

  /** Sends what was asked for since the last time. */
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

  /** Reads a range, and gives each of `reads` its part. */
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

/** A part of a window, as the caller's; undefined where it is not whole in it. */
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
