import { MemoryStore } from "../../src/stores/memory.ts";
import { coordsOf, cStrides, product } from "../../src/util/shape.ts";

/** An array to be made: raw items, uncompressed, so that every byte is in our hands. */
export interface Recipe {
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  readonly order: "C" | "F";
  readonly itemSize: number;
  /** Share of chunks that are not stored, 0 to 1. */
  readonly missing: number;
  readonly seed: number;
}

export interface MadeArray {
  readonly store: MemoryStore;
  /** All items in C order. */
  readonly bytes: Uint8Array;
}

/** A v2 array in memory, and what it must read as, both written item by item. */
export async function makeArray(recipe: Recipe, path = ""): Promise<MadeArray> {
  const { shape, chunks, order, itemSize } = recipe;
  const random = randomBytes(recipe.seed);
  const store = new MemoryStore();
  const fill = Uint8Array.from({ length: itemSize }, () => random());
  const bytes = new Uint8Array(product(shape) * itemSize);
  const prefix = path === "" ? "" : `${path}/`;
  await store.set(`${prefix}.zarray`, encode(document(recipe, fill)));

  const strides = cStrides(shape);
  for (const coords of coordsOf(shape.map((n, d) => Math.ceil(n / (chunks[d] ?? 1))))) {
    const missing = random() / 256 < recipe.missing;
    const chunk = new Uint8Array(product(chunks) * itemSize);
    for (const inside of coordsOf(chunks)) {
      const item = missing ? fill : Uint8Array.from({ length: itemSize }, () => random());
      chunk.set(item, itemSize * indexInChunk(inside, chunks, order));
      const at = inside.map((i, d) => i + (coords[d] ?? 0) * (chunks[d] ?? 1));
      if (at.some((i, d) => i >= (shape[d] ?? 0))) continue;
      bytes.set(item, itemSize * at.reduce((sum, i, d) => sum + i * (strides[d] ?? 0), 0));
    }
    if (!missing) await store.set(`${prefix}${coords.join(".") || "0"}`, chunk);
  }
  return { store, bytes };
}

/** The items of a selection, in C order, taken one by one. */
export function naiveSlice(
  { bytes }: Pick<MadeArray, "bytes">,
  { shape, itemSize }: Pick<Recipe, "shape" | "itemSize">,
  selection: { start: readonly number[]; step: readonly number[]; shape: readonly number[] },
): Uint8Array {
  const strides = cStrides(shape);
  const result = new Uint8Array(product(selection.shape) * itemSize);
  let to = 0;
  for (const coords of coordsOf(selection.shape)) {
    const item = coords.reduce(
      (sum, i, d) => sum + ((selection.start[d] ?? 0) + i * (selection.step[d] ?? 1)) * (strides[d] ?? 0),
      0,
    );
    result.set(bytes.subarray(item * itemSize, (item + 1) * itemSize), to);
    to += itemSize;
  }
  return result;
}

function document({ shape, chunks, order, itemSize }: Recipe, fill: Uint8Array): string {
  return JSON.stringify({
    zarr_format: 2,
    shape,
    chunks,
    dtype: `|V${itemSize}`,
    compressor: null,
    fill_value: Buffer.from(fill).toString("base64"),
    order,
    filters: null,
  });
}

function indexInChunk(inside: readonly number[], chunks: readonly number[], order: "C" | "F"): number {
  const dimensions = chunks.map((_, d) => d);
  if (order === "F") dimensions.reverse();
  return dimensions.reduce((index, d) => index * (chunks[d] ?? 1) + (inside[d] ?? 0), 0);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Bytes that look random and are the same for the same seed. */
function randomBytes(seed: number): () => number {
  let state = (seed * 2654435761 + 1) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  };
}
