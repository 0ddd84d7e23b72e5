import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { slice } from "../../../src/flows/slice.ts";
import { numberDecoding, readDrawnNumbers } from "../../../src/flows/view/read-numbers.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { formatSlice } from "../../../src/tables/slice-format.ts";
import { testFolder } from "../../support/cli.ts";
import { type V2Array, writeV2Group } from "../../support/v2-store.ts";

async function array(items: V2Array["items"], dtype: string, more: Partial<V2Array>) {
  const folder = await testFolder();
  const shape = [(items as Uint8Array).length];
  await writeV2Group(folder, { v: { shape, chunks: [2], dtype, items, dimensions: ["x"], ...more } });
  return openArray(`${folder}/v`);
}

const INT8 = Int8Array.of(-56, -1, 0, 7, 100);

const packed = { scale_factor: 0.5, add_offset: 2, missing_value: [7, 100] };
const unsigned = { attributes: { _Unsigned: "true" }, fillValue: -1 };

it.each<[string, V2Array["items"], string, Partial<V2Array>]>([
  ["scale, offset and a list of missing values", INT8, "<i1", { attributes: packed }],
  ["integers of the other sign, with a fill value", INT8, "<i1", unsigned],
  ["a valid range", INT8, "<i1", { attributes: { valid_range: [-1, 7] } }],
  ["a fill value of floats", Float32Array.of(1.5, -999, Number.NaN), "<f4", { fillValue: -999 }],
  ["64-bit integers", BigInt64Array.of(1n, -5n, 3n), "<i8", { attributes: { missing_value: -5 } }],
])("numbers of a picture are those of a decoded slice: %s", async (_, items, dtype, more) => {
  const v = await array(items, dtype, more);
  const json = await text(formatSlice(slice(v), "json", { decode: true }) as Parameters<typeof text>[0]);
  const { data, missing } = await readDrawnNumbers(v, [{ start: 0, step: 1, count: v.shape[0] ?? 0 }], {});
  const seen = Array.from(data, (number) => (Number.isNaN(number) ? null : number));
  const expected = JSON.parse(json).map((one: unknown) => (one === null ? null : Number(one)));
  expect(seen).toEqual(expected);
  expect(missing).toBe(expected.filter((one: unknown) => one === null).length);
});

it("says how numbers are packed, and which of them are missing, with the sign that is meant", async () => {
  const attributes = { _Unsigned: "true", scale_factor: 0.5, add_offset: 2 };
  const v = await array(INT8, "<i1", { attributes, fillValue: -1 });
  const { packing, missing } = numberDecoding(v);
  expect({ packing, missing }).toEqual({ packing: "stored as unsigned × 0.5 + 2", missing: [255] });
});
