import { describe } from "vitest";
import { open, setAttributes } from "../../src/index.ts";
import { given } from "../support/given.ts";
import { type Row, refused, row, SPEC_ITEMS, testItems } from "./rows.ts";
import { type Content, fillIn, nodeIn, opens, storeOf, textAt, token } from "./stores.ts";

const V2 = {
  ...{ zarr_format: 2, shape: [2], chunks: [2], dtype: "<u8", fill_value: 0, order: "C" },
  ...{ compressor: null, filters: null },
};
const V3 = { zarr_format: 3, node_type: "group", attributes: {} };

const attributesIn = async (content: Content) => (await nodeIn(content)).attributes;

/** The group's `.zattrs` after an attribute is set. */
async function attributed(attributes: Readonly<Record<string, unknown>>): Promise<string> {
  const store = await storeOf({ ".zgroup": { zarr_format: 2 } });
  await setAttributes(await open(store), attributes);
  return textAt(store, ".zattrs");
}

/** A document after an edit that changes nothing of it. */
async function kept(text: string): Promise<string> {
  const store = await storeOf({ ".zarray": text });
  await setAttributes(await open(store), { a: 1 });
  return textAt(store, ".zarray");
}

async function created(fillValue: number): Promise<string> {
  const array = { shape: [1], dataType: "float64", fillValue, values: null };
  return textAt(await given({ zarrFormat: "v2", ...array }), ".zarray");
}

const SPACED = JSON.stringify({ ...V2, shape: [2] }, null, 7);
const rows: Row[] = [
  row("J-1", "64-bit fill values", 2n ** 64n - 1n, () =>
    fillIn({ ".zarray": { ...V2, fill_value: token("18446744073709551615") } }),
  ),
  row("J-1", "integers of attributes", { a: 9007199254740993n }, () =>
    attributesIn({ ".zgroup": { zarr_format: 2 }, ".zattrs": '{"a": 9007199254740993}' }),
  ),
  row("J-2", "bare tokens in attributes of v3", { a: Number.NEGATIVE_INFINITY }, () =>
    attributesIn({ "zarr.json": { ...V3, attributes: { a: token("-Infinity") } } }),
  ),
  row("J-2", "and nowhere else in it", refused("invalid-metadata", { key: "zarr.json" }), () =>
    opens({ "zarr.json": { ...V3, zarr_format: token("NaN") } }),
  ),
  row("J-2", "in a fill value of v2", Number.NaN, () =>
    fillIn({ ".zarray": { ...V2, dtype: "<f4", fill_value: token("NaN") } }),
  ),
  row("J-2", "and nowhere else in it", refused("invalid-metadata", { key: ".zarray" }), () =>
    opens({ ".zarray": { ...V2, shape: [token("Infinity")] } }),
  ),
  row("J-2", "are written as strings", true, async () =>
    (await created(Number.NaN)).includes('"fill_value": "NaN"'),
  ),
  row("J-2", "and refused in attributes", refused("loss-refused", { pointers: ["/attributes/a"] }), () =>
    attributed({ a: Number.NaN }),
  ),
  row("J-3", "a byte order mark and white space", "group", () =>
    opens({ ".zgroup": '\ufeff \r\n\t{"zarr_format": 2}\n' }),
  ),
  row("J-3", "a trailing comma", refused("invalid-metadata", { key: ".zgroup", pointer: "" }), () =>
    opens({ ".zgroup": '{"zarr_format": 2,}' }),
  ),
  row("J-3", "a comment", refused("invalid-metadata", { key: ".zgroup" }), () =>
    opens({ ".zgroup": '{"zarr_format": 2} // x' }),
  ),
  row("J-4", "the last of two names", "group", () =>
    opens({ ".zgroup": '{"zarr_format": 7, "zarr_format": 2}' }),
  ),
  row("J-5", "a document that does not change", SPACED, () => kept(SPACED)),
];

describe("JSON of all formats", () => {
  testItems(SPEC_ITEMS.README, rows);
});
