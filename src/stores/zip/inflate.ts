import { ZarrflowError } from "../../util/errors.ts";
import { type Builtins, builtin, isNode } from "../../util/platform.node.ts";

/** An implementation of raw inflate. Both calls throw if the data are broken or truncated. */
export interface Inflater {
  /** Inflates in pieces of at most a few MiB, and reads packed data as needed. */
  pieces(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  /** Inflates all data at once; fails beyond `size` bytes. Absent if pieces are as fast. */
  whole?(packed: Uint8Array, size: number): Promise<Uint8Array>;
}

/** Packed bytes up to which inflating here costs less than passing them to another thread. */
const SMALL_BYTES = 64 * 1024;
/** Maximum number of bytes that one byte of deflated data can expand to. */
const MAX_RATIO = 1032;
/** Packed data may have twice the size of the value and this many bytes more. */
const MAX_ADDED = 64 * 1024;

export const nodeInflater: Inflater = {
  async *pieces(packed) {
    const { createInflateRaw } = nodes("node:zlib");
    // errors are thrown to the reader
    yield* nodes("node:stream").pipeline(packed, createInflateRaw(), () => {});
  },
  async whole(packed, size) {
    const { inflateRaw, inflateRawSync } = nodes("node:zlib");
    // one byte more than the value, so that one chunk is enough and a longer value is noticed
    const options = { chunkSize: Math.max(64, size + 1), maxOutputLength: Math.max(1, size) };
    if (packed.length <= SMALL_BYTES) return inflateRawSync(packed, options);
    return new Promise((resolve, reject) => {
      inflateRaw(packed, options, (error, bytes) => (error ? reject(error) : resolve(bytes)));
    });
  },
};

export const fflateInflater: Inflater = {
  async *pieces(packed) {
    const { Inflate } = await import("fflate");
    const step = 4096;
    let pieces: Uint8Array[] = [];
    const stream = new Inflate((piece) => pieces.push(piece));
    for await (const part of packed) {
      for (let at = 0; at < part.length; at += step) {
        stream.push(part.subarray(at, at + step));
        yield* pieces;
        pieces = [];
      }
    }
    stream.push(new Uint8Array(0), true);
    yield* pieces;
  },
};

/** Returns a built-in module, which exists wherever this is called. */
function nodes<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  return builtin(name) as Builtins[Name];
}

/** The inflater of this runtime. */
export const inflaterHere = isNode ? nodeInflater : fflateInflater;

/**
 * Inflates `packed` into `into`, which has the stated size of the value.
 *
 * @throws `corrupt-store` if the data are broken, or their size is not the stated one.
 */
export async function inflate(
  packed: Uint8Array,
  into: Uint8Array,
  inflater: Inflater = inflaterHere,
): Promise<void> {
  const size = into.length;
  if (inflater.whole === undefined) return new Inflation(inflater.pieces(once(packed)), size).fill(0, into);
  try {
    const value = await inflater.whole(packed, size);
    if (value.length < size) throw wrongSize(size, value.length);
    into.set(value);
  } catch (error) {
    if (error instanceof ZarrflowError) throw error;
    throw new ZarrflowError("corrupt-store", "the zip entry cannot be inflated", {}, { cause: error });
  }
}

async function* once(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  yield packed;
}

/**
 * Checks the two stated sizes before memory is allocated: the value must not be larger than the packed bytes can
 * expand to, and the packed bytes not larger than the value justifies.
 *
 * @throws `corrupt-store`
 */
export function assertInflatedSize(packedSize: number, size: number): void {
  if (size > packedSize * MAX_RATIO) throw wrongSize(size, `at most ${packedSize * MAX_RATIO}`);
  if (packedSize > 2 * size + MAX_ADDED) {
    throw new ZarrflowError(
      "corrupt-store",
      "the compressed zip entry is too large for the size of its value",
      {
        expected: `at most ${2 * size + MAX_ADDED}`,
        found: packedSize,
      },
    );
  }
}

/** Inflates the value of an entry from its start on. */
export class Inflation {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #size: number;
  #rest: Uint8Array = new Uint8Array(0);
  /** Bytes inflated so far. */
  #inflated = 0;

  /**
   * @param pieces the inflated data; it throws if the data are broken or truncated
   * @param size stated size of the value in bytes
   */
  constructor(pieces: AsyncIterator<Uint8Array>, size: number) {
    this.#pieces = pieces;
    this.#size = size;
  }

  /** Offset in the value of the next byte to take. */
  get position(): number {
    return this.#inflated - this.#rest.length;
  }

  get isOver(): boolean {
    return this.position === this.#size;
  }

  /**
   * Fills `into` with the bytes at `offset`, which is `position` or later. At the end of the value, checks that no
   * more bytes follow.
   *
   * @throws `corrupt-store` if the data are broken, or not of the stated size
   */
  async fill(offset: number, into: Uint8Array): Promise<void> {
    await this.#skipTo(offset);
    let filled = 0;
    while (filled < into.length) {
      if (this.#rest.length === 0 && !(await this.#next())) throw wrongSize(this.#size, this.#inflated);
      const piece = this.#rest.subarray(0, into.length - filled);
      into.set(piece, filled);
      filled += piece.length;
      this.#rest = this.#rest.subarray(piece.length);
    }
    if (this.position < this.#size) return;
    while (await this.#next());
  }

  /** Releases the rest. */
  async end(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #skipTo(offset: number): Promise<void> {
    while (this.#inflated < offset) {
      if (!(await this.#next())) throw wrongSize(this.#size, this.#inflated);
    }
    this.#rest = this.#rest.subarray(offset - this.position);
  }

  /** Replaces the rest by the next piece. Returns false at the end. */
  async #next(): Promise<boolean> {
    const { done, value } = await this.#pieces.next().catch((error) => {
      if (error instanceof ZarrflowError) throw error;
      throw new ZarrflowError("corrupt-store", "the zip entry cannot be inflated", {}, { cause: error });
    });
    if (done) return false;
    this.#rest = value;
    this.#inflated += value.length;
    if (this.#inflated > this.#size) throw wrongSize(this.#size, this.#inflated);
    return true;
  }
}

/** Makes the error for a value of another size than its entry states. */
export function wrongSize(expected: number, found: number | string): ZarrflowError {
  return new ZarrflowError("corrupt-store", "the zip entry does not have its stated size", {
    expected,
    found,
  });
}

/** Maximum number of inflations kept for later reads: as many values as a copy reads at a time. */
const MAX_OPEN = 16;

interface OpenInflation {
  /** Offset of its entry. */
  readonly entry: number;
  readonly inflation: Inflation;
  /** Position when its current use ends. */
  until: number;
  /** Resolves when its current use ends; undefined if it is not in use. */
  use: Promise<void> | undefined;
}

/**
 * Inflations of entries, which continue where the last part ended, so that parts that are read in order inflate
 * each byte once. A part waits for an inflation that is in use by an earlier part.
 */
export class OpenInflations {
  readonly #open = new Set<OpenInflation>();

  /**
   * Fills `into` with the bytes at `offset` of the value of an entry.
   *
   * @param begin starts an inflation if none can continue
   * @throws as `Inflation.fill`
   */
  async fill(entry: number, offset: number, into: Uint8Array, begin: () => Inflation): Promise<void> {
    let open = this.#nearest(entry, offset);
    for (; open?.use; open = this.#nearest(entry, offset)) await open.use;
    if (open === undefined) {
      open = { entry, inflation: begin(), until: 0, use: undefined };
      this.#open.add(open);
    }
    open.until = offset + into.length;
    let done = () => {};
    open.use = new Promise((resolve) => (done = resolve));
    try {
      await open.inflation.fill(offset, into);
    } catch (error) {
      await this.#end(open);
      throw error;
    } finally {
      open.use = undefined;
      done();
    }
    if (open.inflation.isOver) await this.#end(open);
    else if (this.#open.delete(open)) this.#open.add(open);
    await this.#endOldest();
  }

  async end(): Promise<void> {
    await Promise.all([...this.#open].map((open) => this.#end(open)));
  }

  /** Returns the inflation of an entry that will be nearest before `offset`. */
  #nearest(entry: number, offset: number): OpenInflation | undefined {
    let nearest: OpenInflation | undefined;
    for (const open of this.#open) {
      if (open.entry !== entry || open.until > offset) continue;
      if (nearest === undefined || open.until > nearest.until) nearest = open;
    }
    return nearest;
  }

  async #endOldest(): Promise<void> {
    for (const open of this.#open) {
      if (this.#open.size <= MAX_OPEN) return;
      if (open.use === undefined) await this.#end(open);
    }
  }

  async #end(open: OpenInflation): Promise<void> {
    this.#open.delete(open);
    await open.inflation.end().catch(() => {}); // failures have been reported already
  }
}
