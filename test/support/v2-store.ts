import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { coordsOf, product } from "../../src/util/shape.ts";

/** A little Zarr v2 array, written by hand: plain JSON and raw chunks. */
export interface V2Array {
  readonly shape: readonly number[];
  /** One chunk by default. */
  readonly chunks?: readonly number[];
  /** A NumPy type, `<f4` by default; `|O` is made of `vlen-utf8` strings. */
  readonly dtype?: unknown;
  /** Items in C order, for `|O` strings; 0, 1, 2, ... as float32 by default. */
  readonly items?: ArrayBufferView | readonly string[];
  readonly fillValue?: unknown;
  readonly dimensions?: readonly string[];
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly compressor?: unknown;
}

/** Writes an array into `folder`, which becomes its root. Edge chunks are padded with zeros. */
export async function writeV2Array(folder: string, array: V2Array): Promise<void> {
  const { shape, chunks = shape, items = ramp(product(shape)) } = array;
  await writeV2Metadata(folder, array, ArrayBuffer.isView(items) ? null : [{ id: "vlen-utf8" }]);
  for (const coords of coordsOf(shape.map((n, d) => Math.ceil(n / (chunks[d] ?? 1))))) {
    const file = join(folder, coords.join(".") || "0");
    await writeFile(
      file,
      ArrayBuffer.isView(items) ? rawChunk({ shape, chunks }, items, coords) : stringChunk(items),
    );
  }
}

/** Writes the documents of an array alone, whose chunks somebody else writes. */
export async function writeV2Metadata(
  folder: string,
  array: Omit<V2Array, "items">,
  filters: unknown = null,
): Promise<void> {
  const { shape, chunks = shape, dtype = "<f4", fillValue = null, compressor = null } = array;
  const grid = { zarr_format: 2, shape, chunks, dtype, compressor, fill_value: fillValue };
  await writeJson(join(folder, ".zarray"), { ...grid, order: "C", filters });
  const attributes = {
    ...(array.dimensions && { _ARRAY_DIMENSIONS: array.dimensions }),
    ...array.attributes,
  };
  if (Object.keys(attributes).length > 0) await writeJson(join(folder, ".zattrs"), attributes);
}

/** Writes a group with arrays in it. */
export async function writeV2Group(
  folder: string,
  arrays: Readonly<Record<string, V2Array>>,
  attributes: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await writeJson(join(folder, ".zgroup"), { zarr_format: 2 });
  await writeJson(join(folder, ".zattrs"), attributes);
  for (const [name, array] of Object.entries(arrays)) await writeV2Array(join(folder, name), array);
}

/** 0, 1, 2, ... as float32. */
export function ramp(length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => i);
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(value, null, 4));
}

function rawChunk(
  { shape, chunks }: Required<Pick<V2Array, "shape" | "chunks">>,
  items: ArrayBufferView,
  coords: readonly number[],
): Uint8Array {
  const bytes = new Uint8Array(items.buffer, items.byteOffset, items.byteLength);
  const itemSize = bytes.length / Math.max(1, product(shape));
  const chunk = new Uint8Array(product(chunks) * itemSize);
  let to = 0;
  for (const within of coordsOf(chunks)) {
    const at = within.map((n, d) => n + (coords[d] ?? 0) * (chunks[d] ?? 1));
    if (at.every((n, d) => n < (shape[d] ?? 0))) {
      const from = at.reduce((index, n, d) => index * (shape[d] ?? 0) + n, 0) * itemSize;
      chunk.set(bytes.subarray(from, from + itemSize), to);
    }
    to += itemSize;
  }
  return chunk;
}

/** All strings as one chunk: their count, then each with its length in front. */
function stringChunk(strings: readonly string[]): Uint8Array {
  const word = (n: number) => new Uint8Array(Uint32Array.of(n).buffer);
  const texts = strings.map((text) => new TextEncoder().encode(text));
  return Buffer.concat([word(texts.length), ...texts.flatMap((text) => [word(text.length), text])]);
}
