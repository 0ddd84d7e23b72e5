import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create, type NewArray } from "../../src/index.ts";
import { parseJson } from "../../src/util/json-parse.ts";

/** A document as lossless JSON. */
export function documentIn(array: string, name = "meta") {
  return parseJson(readFileSync(join(array, name)), { allowNonFinite: () => true });
}

/** A new array of v1, 7 by 10, with items in its upper left only, so that chunks are missing and cut. */
export async function writeV1Array(
  target: string,
  array: Omit<NewArray, "shape" | "chunks">,
  items: ArrayBufferView,
): Promise<void> {
  const writer = await create(target, { shape: [7, 10], chunks: [3, 4], zarrFormat: "v1", ...array });
  await writer.write({ start: [0, 0], shape: [5, 6] }, items as Uint8Array);
  await writer.close();
}

/** An array of v1 that lies there as another writer left it: one chunk of int16, 2 by 3. */
export async function storeV1Array(target: string, chunk: Uint8Array, meta: object): Promise<void> {
  await mkdir(target, { recursive: true });
  const usual = { zarr_format: 1, shape: [2, 3], chunks: [2, 3], dtype: "<i2", fill_value: 0, order: "C" };
  await writeFile(join(target, "meta"), JSON.stringify({ ...usual, ...meta }));
  await writeFile(join(target, "0.0"), chunk);
}
