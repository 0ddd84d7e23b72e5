import fc from "fast-check";
import { expect } from "vitest";
import { loadCodecs, type PlacedCodec } from "../../src/codecs/chain/codec-chain.ts";
import type { BytesToBytesCodec, ChunkSpec } from "../../src/codecs/codec.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import type { Buffers } from "../../src/util/buffers.ts";
import { type ErrorCode, isZarrflowError, type ZarrflowError } from "../../src/util/errors.ts";
import type { JsonObject } from "../../src/util/json-value.ts";

const GUARD = 0xa5;
const GUARD_SIZE = 37;

/**
 * Buffers that lie unaligned between guard bytes, are filled with rubbish, and are counted: what was taken must be
 * given back once, with its guards whole.
 */
export class GuardedBuffers implements Buffers {
  readonly #taken = new Map<ArrayBufferLike, number>();
  taken = 0;

  take(byteLength: number): Uint8Array {
    const bytes = new Uint8Array(byteLength + 2 * GUARD_SIZE).fill(GUARD);
    const view = bytes.subarray(GUARD_SIZE, GUARD_SIZE + byteLength).fill(0x5a);
    this.#taken.set(bytes.buffer, byteLength);
    this.taken++;
    return view;
  }

  give(view: Uint8Array): void {
    const byteLength = this.#taken.get(view.buffer);
    if (byteLength === undefined) throw new Error("a buffer was given back that had not been taken");
    this.#taken.delete(view.buffer);
    const bytes = new Uint8Array(view.buffer);
    const after = bytes.subarray(GUARD_SIZE + byteLength);
    if ([bytes.subarray(0, GUARD_SIZE), after].some((guards) => guards.some((byte) => byte !== GUARD))) {
      throw new Error("bytes beside a buffer were written");
    }
  }

  /** A taken buffer with a copy of `bytes`. */
  copyOf(bytes: Uint8Array): Uint8Array {
    const copy = this.take(bytes.length);
    copy.set(bytes);
    return copy;
  }

  /** Buffers taken and not given back. */
  get live(): number {
    return this.#taken.size;
  }
}

/** `bytes` between guard bytes, and a check that these are whole. */
export function guarded(byteLength: number): { bytes: Uint8Array; check: () => void } {
  const buffers = new GuardedBuffers();
  const bytes = buffers.take(byteLength);
  return { bytes, check: () => buffers.give(bytes) };
}

/** Bytes as chunks have them: noise, runs, smooth numbers, text-like repeats; also none at all. */
export function chunkBytes(maxLength: number): fc.Arbitrary<Uint8Array> {
  const noise = fc.uint8Array({ maxLength });
  const runs = fc
    .array(fc.tuple(fc.nat(255), fc.integer({ min: 1, max: Math.ceil(maxLength / 8) })), { maxLength: 40 })
    .map((list) => list.flatMap(([byte, length]) => new Array<number>(length).fill(byte)))
    .map((bytes) => Uint8Array.from(bytes.slice(0, maxLength)));
  const repeats = fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(maxLength), fc.nat(255))
    .map(([unit, length, step]) =>
      Uint8Array.from({ length }, (_, i) => (unit[i % unit.length] ?? 0) + (i % 97 === 0 ? step : 0)),
    );
  const smooth = fc.tuple(fc.nat(maxLength), fc.integer({ min: 1, max: 50 })).map(([length, period]) => {
    const floats = Float32Array.from({ length: Math.ceil(length / 4) }, (_, i) => Math.sin(i / period));
    return new Uint8Array(floats.buffer).subarray(0, length);
  });
  return fc.oneof(noise, runs, repeats, smooth);
}

/** Numbers from 0 to below `limit`, the same for the same seed. */
export function randomNumbers(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

export const RAW = (size: number): DataType => ({ kind: "raw", size });

export function specOf(shape: readonly number[], dataType: DataType): ChunkSpec {
  return { shape, dataType, fillValue: null };
}

/** A bytes -> bytes codec behind plain `bytes` for a chunk of `size` bytes in items of `itemSize`. */
export async function placedCodec(
  name: string,
  configuration: JsonObject,
  size: number,
  itemSize = 1,
): Promise<PlacedCodec<BytesToBytesCodec>> {
  const configs = [
    { name: "bytes", configuration: {} },
    { name, configuration },
  ];
  const chain = await loadCodecs(configs, specOf([size / itemSize], RAW(itemSize)));
  return chain[1] as PlacedCodec<BytesToBytesCodec>;
}

/** The error that `run` ends with, of one of `codes`. */
export async function errorOf(run: () => unknown, ...codes: ErrorCode[]): Promise<ZarrflowError> {
  try {
    await run();
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    if (codes.length > 0) expect(codes).toContain(error.code);
    return error;
  }
  throw new Error("there was no error");
}

/** Equal bytes; far faster than `toEqual`, which tells the difference only when there is one. */
export function expectSame(found: Uint8Array | undefined, expected: Uint8Array): void {
  if (found && Buffer.compare(found, expected) === 0) return;
  expect(found).toEqual(expected);
}
