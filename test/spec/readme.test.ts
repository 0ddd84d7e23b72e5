import { describe } from "vitest";
import { open, setAttributes } from "../../src/index.ts";
import { given } from "../support/given.ts";
import { testCoverage } from "./coverage.ts";
import { SPEC_ITEMS } from "./items.ts";
import { type Row, refused, testRows } from "./rows.ts";
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
  [
    "J-1",
    "64-bit fill values",
    () => fillIn({ ".zarray": { ...V2, fill_value: token("18446744073709551615") } }),
    2n ** 64n - 1n,
  ],
  [
    "J-1",
    "integers of attributes",
    () => attributesIn({ ".zgroup": { zarr_format: 2 }, ".zattrs": '{"a": 9007199254740993}' }),
    { a: 9007199254740993n },
  ],
  [
    "J-2",
    "bare tokens in attributes of v3",
    () => attributesIn({ "zarr.json": { ...V3, attributes: { a: token("-Infinity") } } }),
    { a: Number.NEGATIVE_INFINITY },
  ],
  [
    "J-2",
    "and nowhere else in it",
    () => opens({ "zarr.json": { ...V3, zarr_format: token("NaN") } }),
    refused("invalid-metadata", { key: "zarr.json" }),
  ],
  [
    "J-2",
    "in a fill value of v2",
    () => fillIn({ ".zarray": { ...V2, dtype: "<f4", fill_value: token("NaN") } }),
    Number.NaN,
  ],
  [
    "J-2",
    "and nowhere else in it",
    () => opens({ ".zarray": { ...V2, shape: [token("Infinity")] } }),
    refused("invalid-metadata", { key: ".zarray" }),
  ],
  [
    "J-2",
    "are written as strings",
    async () => (await created(Number.NaN)).includes('"fill_value": "NaN"'),
    true,
  ],
  [
    "J-2",
    "and refused in attributes",
    () => attributed({ a: Number.NaN }),
    refused("loss-refused", { pointers: ["/attributes/a"] }),
  ],
  [
    "J-3",
    "a byte order mark and white space",
    () => opens({ ".zgroup": '\ufeff \r\n\t{"zarr_format": 2}\n' }),
    "group",
  ],
  [
    "J-3",
    "a trailing comma",
    () => opens({ ".zgroup": '{"zarr_format": 2,}' }),
    refused("invalid-metadata", { key: ".zgroup", pointer: "" }),
  ],
  [
    "J-3",
    "a comment",
    () => opens({ ".zgroup": '{"zarr_format": 2} // x' }),
    refused("invalid-metadata", { key: ".zgroup" }),
  ],
  [
    "J-4",
    "the last of two names",
    () => opens({ ".zgroup": '{"zarr_format": 7, "zarr_format": 2}' }),
    "group",
  ],
  ["J-5", "a document that does not change", () => kept(SPACED), SPACED],
];

describe("JSON of all formats", () => {
  testRows(rows);
  testCoverage(SPEC_ITEMS.README, { rows, untestable: {} });
});
