import type { RangeReader, RangeReadOptions } from "../../util/byte-range.ts";

/** What is read between two ranges that are asked for, at most, so that one request reads both. */
const MOST_BETWEEN = 64 * 1024;
/** The most bytes that are read together. */
const MOST_TOGETHER = 1024 * 1024;
/** The most bytes of all requests for several ranges that are under way; beyond, each range is read alone. */
export const MOST_HELD = 2 * MOST_TOGETHER;
/** Entries of so few bytes are read with those behind them, up to `AHEAD`: metadata documents lie side by side. */
const FEW_BYTES = 4 * 1024;
const AHEAD = 32 * 1024;

export interface EntryReadOptions extends RangeReadOptions {
  /** Whether the range is a whole entry: then the next ones are likely to be read, too. */
  readonly isEntry?: boolean;
}

interface Read extends EntryReadOptions {
  readonly offset: number;
  readonly length: number;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (reason: unknown) => void;
}

/** Reads near one another, and what they cover together. */
interface Group {
  readonly offset: number;
  end: number;
  readonly reads: Read[];
}

/** Bytes of the archive from an offset. */
interface Window {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const soon: (run: () => void) => void = globalThis.setImmediate ?? ((run) => setTimeout(run, 0));

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

  constructor(reader: RangeReader) {
    this.#reader = reader;
    this.size = reader.size;
  }

  read(offset: number, length: number, options: EntryReadOptions = {}): Promise<Uint8Array> {
    const known = this.#ahead && partOf(this.#ahead, offset, length, options.into);
    if (known) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) soon(() => this.#send());
      this.#waiting.push({ offset, length, ...options, resolve, reject });
    });
  }

  async close(): Promise<void> {
    await this.#reader.close?.();
  }

  /** Sends what was asked for since the last time. */
  #send(): void {
    const asked = this.#waiting.filter((read) => !rejectedByNow(read));
    this.#waiting = [];
    for (const { offset, end, reads } of groupsOf(asked)) {
      const length = end - offset;
      const isFew = length <= FEW_BYTES && reads.some(({ isEntry }) => isEntry);
      if (isFew) this.#together(reads, offset, Math.min(AHEAD, this.size - offset), true);
      else if (reads.length > 1 && this.#held + length <= MOST_HELD) this.#together(reads, offset, length);
      else for (const read of reads) this.#alone(read);
    }
  }

  #alone({ offset, length, resolve, reject, ...options }: Read): void {
    this.#reader.read(offset, length, options).then(resolve, reject);
  }

  /** Reads a range, and gives each of `reads` its part. It is given up once nobody waits for it any more. */
  async #together(reads: readonly Read[], offset: number, length: number, isAhead = false): Promise<void> {
    const abandoned = new AbortController();
    let left = reads.length;
    const stops = reads.map(({ signal, reject }) => {
      const stop = () => {
        reject(signal?.reason);
        if (--left === 0) abandoned.abort(signal?.reason);
      };
      signal?.addEventListener("abort", stop, { once: true });
      return () => signal?.removeEventListener("abort", stop);
    });
    this.#held += length;
    try {
      const bytes = await this.#reader.read(offset, length, { signal: abandoned.signal });
      const window = { offset, bytes };
      if (isAhead) this.#ahead = window;
      for (const read of reads) {
        const part = partOf(window, read.offset, read.length, read.into);
        if (part) read.resolve(part);
      }
    } catch (error) {
      for (const { reject } of reads) reject(error);
    } finally {
      this.#held -= length;
      for (const done of stops) done();
    }
  }
}

function rejectedByNow({ signal, reject }: Read): boolean {
  if (signal?.aborted) reject(signal.reason);
  return signal?.aborted ?? false;
}

/** Reads in groups of those that are worth one request. */
function groupsOf(reads: readonly Read[]): Group[] {
  const groups: Group[] = [];
  for (const read of reads.toSorted((a, b) => a.offset - b.offset)) {
    const last = groups.at(-1);
    const end = Math.max(last?.end ?? 0, read.offset + read.length);
    if (last && read.offset - last.end <= MOST_BETWEEN && end - last.offset <= MOST_TOGETHER) {
      last.reads.push(read);
      last.end = end;
    } else groups.push({ offset: read.offset, end, reads: [read] });
  }
  return groups;
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
