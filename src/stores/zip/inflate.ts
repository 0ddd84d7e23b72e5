import { ZarrflowError } from "../../util/errors.ts";
import { type Builtins, builtin, isNode } from "../../util/platform.node.ts";
import { Inflation, wrongSize } from "./inflation.ts";

/** A way to inflate raw deflate data. Either call throws when the data are broken or cut off. */
export interface Inflater {
  /** The data in pieces, as they come; never more than a few MiB at once. What is packed is asked for as it is used. */
  pieces(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
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
    const { createInflateRaw } = nodes("node:zlib");
    // what fails is thrown where it is read
    yield* nodes("node:stream").pipeline(packed, createInflateRaw(), () => {});
  },
  async whole(packed, size) {
    const { inflateRaw, inflateRawSync } = nodes("node:zlib");
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

/** A module that is there where this is used. */
function nodes<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  return builtin(name) as Builtins[Name];
}

/** The way of this runtime. */
export const inflaterHere = isNode ? nodeInflater : fflateInflater;

/**
 * Inflates `packed` into `into`, which has the size that its value is stated to have.
 *
 * @throws `corrupt-store` when the data are broken, or their size is not the stated one.
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
