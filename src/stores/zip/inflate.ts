import { ZarrflowError } from "../../util/errors.ts";

/** A way to inflate raw deflate data. Either call throws when the data are broken or cut off. */
export interface Inflater {
  /** The data in pieces, as they come; never more than a few MiB at once. */
  pieces(packed: Uint8Array): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The data at once; fails beyond `size` bytes. Absent where pieces are as good. */
  whole?(packed: Uint8Array, size: number): Promise<Uint8Array>;
}

/** Up to so many packed bytes, handing them to another thread costs more than inflating them here. */
const SMALL_BYTES = 64 * 1024;
/** No byte of deflate stands for more. */
const MAX_RATIO = 1032;
/** Nobody deflates to more than twice the size, and so many bytes. */
const MAX_ADDED = 64 * 1024;

export const nodeInflater: Inflater = {
  async *pieces(packed) {
    const { createInflateRaw } = await import("node:zlib");
    const stream = createInflateRaw();
    stream.end(packed);
    yield* stream;
  },
  async whole(packed, size) {
    const { inflateRaw, inflateRawSync } = await import("node:zlib");
    // a chunk one byte larger than the value: no second one is taken, and a longer value is noticed
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
    for (let at = 0; at < packed.length; at += step) {
      stream.push(packed.subarray(at, at + step), at + step >= packed.length);
      yield* pieces;
      pieces = [];
    }
  },
};

const inflaterHere = globalThis.process?.versions?.node === undefined ? fflateInflater : nodeInflater;

/**
 * Inflates `packed`, whose value is stated to be of `size` bytes, and fills `into` with those from `offset`. Reads no
 * further than that, and takes memory for `into` and little more.
 *
 * @throws `corrupt-store` when the data are broken, or their size is not the stated one.
 */
export async function inflate(
  packed: Uint8Array,
  size: number,
  offset: number,
  into: Uint8Array,
  inflater: Inflater = inflaterHere,
): Promise<void> {
  try {
    if (inflater.whole !== undefined && into.length === size) {
      const value = await inflater.whole(packed, size);
      if (value.length < size) throw wrongSize(size, value.length);
      into.set(value);
    } else {
      await inflatePart(packed, size, offset, into, inflater);
    }
  } catch (error) {
    if (error instanceof ZarrflowError) throw error;
    throw new ZarrflowError("corrupt-store", "the zip entry cannot be inflated", {}, { cause: error });
  }
}

async function inflatePart(
  packed: Uint8Array,
  size: number,
  offset: number,
  into: Uint8Array,
  inflater: Inflater,
): Promise<void> {
  const end = offset + into.length;
  let position = 0;
  for await (const piece of inflater.pieces(packed)) {
    const from = Math.max(offset, position);
    const to = Math.min(end, position + piece.length);
    if (from < to) into.set(piece.subarray(from - position, to - position), from - offset);
    position += piece.length;
    if (position > size) throw wrongSize(size, position);
    if (position >= end && end < size) return;
  }
  if (position < size) throw wrongSize(size, position);
}

/**
 * Refuses a size that so few packed bytes cannot have, and more of them than a value of that size takes, before memory
 * is taken for either.
 *
 * @throws `corrupt-store`
 */
export function assertInflatedSize(packedSize: number, size: number): void {
  if (size > packedSize * MAX_RATIO) throw wrongSize(size, `at most ${packedSize * MAX_RATIO}`);
  if (packedSize > 2 * size + MAX_ADDED) {
    throw new ZarrflowError("corrupt-store", "the zip entry is larger than its value allows", {
      expected: `at most ${2 * size + MAX_ADDED}`,
      found: packedSize,
    });
  }
}

function wrongSize(expected: number, found: number | string): ZarrflowError {
  return new ZarrflowError("corrupt-store", "the zip entry does not have the size it states", {
    expected,
    found,
  });
}
