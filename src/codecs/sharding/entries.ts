import { corrupt } from "../limits.ts";

/** Position of an inner chunk in its shard, in bytes. */
export interface InnerRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * The index of a shard: offset and length of each inner chunk, as u64le, in C order over the shard. Both are 2^64 - 1
 * for an empty inner chunk.
 */
export class ShardIndex {
  /** The decoded entries. */
  readonly bytes: Uint8Array;
  readonly #words: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Creates an index of `chunks` empty inner chunks. */
  static empty(chunks: number): ShardIndex {
    return new ShardIndex(new Uint8Array(chunks * INDEX_ENTRY_SIZE).fill(0xff));
  }

  /** Number of inner chunks, including empty ones. */
  get length(): number {
    return this.bytes.length / INDEX_ENTRY_SIZE;
  }

  isEmpty(chunk: number): boolean {
    return this.#offset(chunk) === EMPTY && this.#length(chunk) === EMPTY;
  }

  /**
   * Position of an inner chunk; undefined for an empty one.
   *
   * @throws `corrupt-chunk` for an entry that is half empty, or that extends beyond a value of `size` bytes.
   */
  rangeOf(chunk: number, size = Number.MAX_SAFE_INTEGER): InnerRange | undefined {
    if (this.isEmpty(chunk)) return undefined;
    const offset = this.#offset(chunk);
    const length = this.#length(chunk);
    if (offset === EMPTY || length === EMPTY) throw corrupt("an entry of the shard's index is half empty");
    const end = offset + length;
    if (end > BigInt(size)) {
      throw corrupt("the inner chunk extends beyond its shard", {
        expected: `an end within ${size} bytes`,
        found: `${end}`,
      });
    }
    return { offset: Number(offset), length: Number(length) };
  }

  set(chunk: number, { offset, length }: InnerRange): void {
    this.#words.setBigUint64(chunk * INDEX_ENTRY_SIZE, BigInt(offset), true);
    this.#words.setBigUint64(chunk * INDEX_ENTRY_SIZE + 8, BigInt(length), true);
  }

  #offset(chunk: number): bigint {
    return this.#words.getBigUint64(chunk * INDEX_ENTRY_SIZE, true);
  }

  #length(chunk: number): bigint {
    return this.#words.getBigUint64(chunk * INDEX_ENTRY_SIZE + 8, true);
  }
}

/** Bytes of the index entry of one inner chunk. */
export const INDEX_ENTRY_SIZE = 16;
export const EMPTY = 2n ** 64n - 1n;
