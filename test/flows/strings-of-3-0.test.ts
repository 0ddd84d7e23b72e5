import { expect, it } from "vitest";
import { convert, copy, openArray, rechunk, slice } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { givenKeys } from "../support/given.ts";

/** A chunk as `vlen-utf8` and `vlen-bytes` store it: a count, then each item behind its length. */
function vlenChunk(items: readonly string[]): Uint8Array {
  const encoded = items.map((item) => new TextEncoder().encode(item));
  const parts = encoded.flatMap((bytes) => [new Uint8Array(Uint32Array.of(bytes.length).buffer), bytes]);
  return Buffer.concat([new Uint8Array(Uint32Array.of(items.length).buffer), ...parts]);
}

/** An array as zarr-python 3.0 wrote text and bytes of a fixed length in v2: with a filter of strings. */
function stored(dtype: string, filter: string): Promise<MemoryStore> {
  const array = { zarr_format: 2, shape: [4], chunks: [3], dtype, order: "C", compressor: null };
  const document = { ...array, fill_value: "", filters: [{ id: filter }], dimension_separator: "." };
  const chunks = { 0: vlenChunk(["a", "bé", ""]), 1: vlenChunk(["xyz", "", ""]) };
  return givenKeys({ ".zarray": document, ...chunks });
}

async function valuesOf(store: MemoryStore): Promise<unknown[]> {
  const { data } = await slice(await openArray(store)).read();
  const decoder = new TextDecoder();
  return Array.from(data as ArrayLike<string | Uint8Array>, (item) =>
    typeof item === "string" ? item : decoder.decode(item),
  );
}

it.each([
  ["<U3", "vlen-utf8", "string"],
  [">U3", "vlen-utf8", "string"],
  ["|S6", "vlen-bytes", "binary"],
])("%s behind %s is read, rechunked and converted as %s", async (dtype, filter, dataType) => {
  const source = await stored(dtype, filter);
  expect((await openArray(source)).dataType).toBe(dataType);
  const values = ["a", "bé", "", "xyz"];
  expect(await valuesOf(source)).toEqual(values);
  const [copied, rechunked, converted] = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
  await copy(source, copied);
  expect(await copied.get(".zarray")).toEqual(await source.get(".zarray"));
  await rechunk(source, rechunked, { chunks: [2] });
  expect(await valuesOf(rechunked)).toEqual(values);
  // of the types of v2, the one of objects is what other readers take with this filter
  expect(JSON.parse(new TextDecoder().decode(await rechunked.get(".zarray")))).toMatchObject({
    dtype: "|O",
    filters: [{ id: filter }],
  });
  await convert(source, converted, { to: "v3" });
  expect(await valuesOf(converted)).toEqual(values);
});
