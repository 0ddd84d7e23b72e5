import { openArray } from "../../src/index.ts";
import type { WritableStore } from "../../src/stores/store.ts";
import { type DecodedChunk, encodeChunks, regrid, writeChunks } from "../../src/streams/index.ts";
import { cStrides, product } from "../../src/util/shape.ts";

/** A `.zarray` document. */
export interface Zarray {
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  readonly dtype: unknown;
  readonly [name: string]: unknown;
}

/**
 * Writes an array by its document and its items, in C order and little-endian (texts of variable length as texts),
 * through the stages that every flow is made of.
 */
export async function writeArray(
  store: WritableStore,
  path: string,
  zarray: Zarray,
  items: Uint8Array | readonly string[],
): Promise<void> {
  await store.set(`${path}/.zarray`, new TextEncoder().encode(JSON.stringify(zarray)));
  const array = await openArray({ store, path });
  const { spec, strides } = await array.pipeline();
  const { shape } = array;
  const whole: DecodedChunk = {
    index: 0,
    coords: shape.map(() => 0),
    region: { start: shape.map(() => 0), shape },
    data: items instanceof Uint8Array ? fixed(items, shape) : texts(items, shape),
  };
  const source = new ReadableStream<DecodedChunk>({
    start(controller) {
      controller.enqueue(whole);
      controller.close();
    },
  });
  await source
    .pipeThrough(regrid({ shape, chunk: spec, strides }))
    .pipeThrough(encodeChunks(array))
    .pipeTo(writeChunks({ store, path, chunkKey: (coords) => array.chunkKey(coords) }));
}

function fixed(items: Uint8Array, shape: readonly number[]): DecodedChunk["data"] {
  const itemSize = items.length / product(shape);
  return { kind: "fixed", bytes: new Uint8Array(items), itemSize, shape, strides: cStrides(shape) };
}

function texts(items: readonly string[], shape: readonly number[]): DecodedChunk["data"] {
  const encoded = items.map((item) => new TextEncoder().encode(item));
  const offsets = new Uint32Array(items.length + 1);
  encoded.forEach((bytes, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + bytes.length;
  });
  return { kind: "variable", bytes: new Uint8Array(Buffer.concat(encoded)), offsets, shape };
}
