import fc from "fast-check";
import { expect } from "vitest";
import { createPipeline, loadCodecs, type PlacedCodec } from "../../src/codecs/chain/codec-chain.ts";
import type { VariableData } from "../../src/codecs/chunk-data.ts";
import type { BytesToBytesCodec, ChunkSpec } from "../../src/codecs/codec.ts";
import type { CodecConfig } from "../../src/meta/array-metadata.ts";
import type { DataType, FixedDataType } from "../../src/meta/data-type.ts";
import type { Buffers } from "../../src/util/bytes.ts";
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

/** Runs on buffers, of which the result alone is not given back, and copies that. */
async function copied(run: (buffers: GuardedBuffers) => Promise<Uint8Array>): Promise<Uint8Array> {
  const buffers = new GuardedBuffers();
  try {
    const made = await run(buffers);
    const copy = made.slice();
    buffers.give(made);
    return copy;
  } finally {
    expect(buffers.live).toBe(0);
  }
}

/** A chain of codecs for vectors of items of fixed size; chunks are bytes, and no buffer is lost. */
export async function fixedCodec(
  configs: readonly CodecConfig[],
  dataType: FixedDataType,
  items: number,
  fillValue: Uint8Array | null = null,
) {
  const shape = [items];
  const pipeline = await createPipeline(configs, { shape, dataType, fillValue });
  return {
    pipeline,
    async encode(bytes: Uint8Array): Promise<Uint8Array> {
      const data = { kind: "fixed", itemSize: dataType.size, shape, strides: [1] } as const;
      const encoded = await copied((buffers) =>
        pipeline.encode({ ...data, bytes: buffers.copyOf(bytes) }, buffers),
      );
      expect(encoded.length).toBeLessThanOrEqual(pipeline.maxEncodedSize);
      return encoded;
    },
    decode: (bytes: Uint8Array) =>
      copied(async (buffers) => (await pipeline.decode(buffers.copyOf(bytes), buffers)).bytes),
  };
}

/** One codec for items of varying size, and no buffer is lost. */
export async function variableCodec(
  name: string,
  configuration: JsonObject,
  kind: "string" | "binary" | "object",
  shape: readonly number[],
) {
  const pipeline = await createPipeline([{ name, configuration }], specOf(shape, { kind }));
  return {
    encode: (items: readonly Uint8Array[]) =>
      copied((buffers) => pipeline.encode(variableData(items, shape, buffers), buffers)),
    async decode(encoded: Uint8Array): Promise<Uint8Array[]> {
      let offsets = new Uint32Array();
      const bytes = await copied(async (buffers) => {
        const data = (await pipeline.decode(buffers.copyOf(encoded), buffers)) as VariableData;
        offsets = data.offsets.slice();
        return data.bytes;
      });
      return itemsOf({ bytes, offsets });
    },
  };
}

export function variableData(
  items: readonly Uint8Array[],
  shape: readonly number[],
  buffers: Buffers,
): VariableData {
  const offsets = new Uint32Array(items.length + 1);
  for (const [i, { length }] of items.entries()) offsets[i + 1] = (offsets[i] ?? 0) + length;
  const bytes = buffers.take(offsets[items.length] ?? 0);
  bytes.set(Buffer.concat(items));
  return { kind: "variable", bytes, offsets, shape };
}

export function itemsOf({ bytes, offsets }: Pick<VariableData, "bytes" | "offsets">): Uint8Array[] {
  return Array.from(offsets.subarray(1), (end, i) => bytes.slice(offsets[i], end));
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** The bytes of a typed array. */
export const bytesOf = (numbers: ArrayBufferView): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength).slice();

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
