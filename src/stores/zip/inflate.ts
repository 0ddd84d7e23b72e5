import { ZarrflowError } from "../../util/errors.ts";
import { type Builtins, builtin, isNode } from "../../util/platform.node.ts";
import { Inflation, wrongSize } from "./inflation.ts";

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
    throw new ZarrflowError("corrupt-store", "the zip entry is larger than its value allows", {
      expected: `at most ${2 * size + MAX_ADDED}`,
      found: packedSize,
    });
  }
}
