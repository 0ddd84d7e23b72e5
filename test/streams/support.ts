import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { ChunkData, VariableData } from "../../src/codecs/chunk-data.ts";
import type { ChunkSpec, CodecPipeline } from "../../src/codecs/codec.ts";
import { copyBox } from "../../src/codecs/kernels/copy-box.ts";
import { isFixed } from "../../src/meta/data-type.ts";
import type { GetOptions, StoreOptions, StoreWriter, WritableStore } from "../../src/stores/store.ts";
import type { ChunkCodec, ChunkRef, ChunkStore } from "../../src/streams/chunk.ts";
import { chunkRegion } from "../../src/streams/selection.ts";
import type { Buffers } from "../../src/util/bytes.ts";
import { coordsOf, cStrides, product } from "../../src/util/shape.ts";
import { type ReadableStream, TransformStream } from "../../src/util/web-streams.ts";
import { variableData as dataOf, itemsOf as variableItems } from "../codecs/support.ts";

/** Fails the tests of the calling file after which a rejection was left without a handler. */
export function failOnUnhandledRejections(): void {
  const seen: unknown[] = [];
  const note = (reason: unknown) => void seen.push(reason);
  beforeAll(() => void process.on("unhandledRejection", note));
  afterEach(async () => {
    await settle();
    expect(seen.splice(0)).toEqual([]);
  });
  afterAll(() => void process.off("unhandledRejection", note));
}

/** Lets everything run that waits for no event from outside: some turns of the event loop, no time. */
export async function settle(turns = 8): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}

export interface Deferred<T = void> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

export function deferred<T = void>(): Deferred<T> {
  let [resolve, reject]: [Deferred<T>["resolve"], Deferred<T>["reject"]] = [() => {}, () => {}];
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}

/** Rejects with the signal's reason when it aborts, and never resolves. */
export function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

export async function collect<T>(stream: ReadableStream<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** What the promise rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (reason) {
    return reason;
  }
  throw new Error("the promise did not reject");
}

export function identity<T>(): TransformStream<T, T> {
  return new TransformStream<T, T>();
}

/** Keys to bytes, copied in and out, with hooks that run before each get and set. */
export class TestStore implements WritableStore {
  readonly description = "test store";
  readonly values = new Map<string, Uint8Array>();
  beforeGet: (key: string, signal: AbortSignal | undefined) => Promise<void> | void = () => {};
  beforeSet: (key: string, signal: AbortSignal | undefined) => Promise<void> | void = () => {};

  async get(key: string, { allocate, signal }: GetOptions = {}): Promise<Uint8Array | undefined> {
    await this.beforeGet(key, signal);
    const value = this.values.get(key);
    if (value === undefined) return undefined;
    const bytes = allocate?.(value.length) ?? new Uint8Array(value.length);
    bytes.set(value);
    return bytes;
  }

  async size(key: string): Promise<number | undefined> {
    return this.values.get(key)?.length;
  }

  async set(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<void> {
    await this.beforeSet(key, signal);
    this.values.set(key, new Uint8Array(bytes));
  }

  openWriter(): Promise<StoreWriter> {
    throw new Error("no stage of these tests writes in pieces");
  }

  async delete(key: string): Promise<void> {
    this.values.delete(key);
  }
}

/** Chunks of `store` under the keys `PATH/c/COORDS`. */
export function placeIn<S extends TestStore>(store: S, path = "a"): ChunkStore<S> {
  return { store, path, chunkKey: (coords) => [path, "c", ...coords].join("/") };
}

/** Refs of all chunks of an array, in C order of the grid. */
export function refsOf(shape: readonly number[], chunkShape: readonly number[]): ChunkRef[] {
  const grid = shape.map((n, d) => Math.ceil(n / (chunkShape[d] ?? 1)));
  return [...coordsOf(grid)].map((coords, index) => ({
    index,
    coords,
    region: chunkRegion(coords, chunkShape, shape),
  }));
}

/** `count` refs of a vector in chunks of `chunkLength` items. */
export function vectorRefs(count: number, chunkLength = 1): ChunkRef[] {
  return refsOf([count * chunkLength], [chunkLength]);
}

/**
 * A pipeline that stores items as they are: fixed ones in their memory order, variable ones behind their lengths.
 * Like real ones it decodes and encodes from one buffer into another and gives the first back.
 */
export function rawPipeline(spec: ChunkSpec, strides = cStrides(spec.shape)): CodecPipeline {
  const items = product(spec.shape);
  const itemSize = isFixed(spec.dataType) ? spec.dataType.size : 0;
  const moved = (bytes: Uint8Array, buffers: Buffers): Uint8Array => {
    const copy = buffers.take(bytes.length);
    copy.set(bytes);
    buffers.give(bytes);
    return copy;
  };
  const decodeVariable = (encoded: Uint8Array, buffers: Buffers): VariableData => {
    const lengths = new Uint32Array(encoded.slice(0, 4 * items).buffer);
    const offsets = new Uint32Array(items + 1);
    for (const [i, length] of lengths.entries()) offsets[i + 1] = (offsets[i] ?? 0) + length;
    const bytes = buffers.take(offsets[items] ?? 0);
    bytes.set(encoded.subarray(4 * items));
    buffers.give(encoded);
    return { kind: "variable", bytes, offsets, shape: spec.shape };
  };
  const encodeVariable = ({ bytes, offsets }: VariableData, buffers: Buffers): Uint8Array => {
    const encoded = buffers.take(4 * items + bytes.length);
    const lengths = Uint32Array.from({ length: items }, (_, i) => (offsets[i + 1] ?? 0) - (offsets[i] ?? 0));
    encoded.set(new Uint8Array(lengths.buffer));
    encoded.set(bytes, 4 * items);
    buffers.give(bytes);
    return encoded;
  };
  return {
    spec,
    strides,
    decodedSize: items * itemSize,
    maxEncodedSize: items * itemSize,
    scratchSize: 0,
    pooledScratchSize: 0,
    async decode(encoded, buffers): Promise<ChunkData> {
      if (itemSize === 0) return decodeVariable(encoded, buffers);
      return { kind: "fixed", bytes: moved(encoded, buffers), itemSize, shape: spec.shape, strides };
    },
    async encode(data, buffers) {
      return data.kind === "variable" ? encodeVariable(data, buffers) : moved(data.bytes, buffers);
    },
  };
}

export function codingOf(pipeline: CodecPipeline, path = "a"): ChunkCodec {
  return { path, pipeline: async () => pipeline };
}

/** The items of fixed data, one array of bytes each, in C order. */
export function itemsOf(data: ChunkData | undefined): number[][] {
  if (data?.kind !== "fixed") throw new Error("fixed data expected");
  const { bytes, itemSize, shape, strides } = data;
  const c = new Uint8Array(product(shape) * itemSize);
  copyBox(bytes, { offset: 0, strides }, c, { offset: 0, strides: cStrides(shape) }, shape, itemSize);
  return Array.from({ length: product(shape) }, (_, i) => [...c.subarray(i * itemSize, (i + 1) * itemSize)]);
}

export function stringsOf(data: ChunkData | undefined): string[] {
  if (data?.kind !== "variable") throw new Error("variable data expected");
  return variableItems(data).map((item) => new TextDecoder().decode(item));
}

export function variableData(
  strings: readonly string[],
  shape: readonly number[],
  buffers: Buffers,
): VariableData {
  return dataOf(
    strings.map((text) => new TextEncoder().encode(text)),
    shape,
    buffers,
  );
}
