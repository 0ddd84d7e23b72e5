import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect } from "vitest";
import { copy } from "../../src/index.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import type { MemoryStore } from "../../src/stores/memory.ts";
import { openStore } from "../../src/stores/url.ts";
import { SAMPLE } from "../codecs/lz-sample.ts";
import { LZMA_VECTORS } from "../codecs/lzma/vectors.ts";
import { given } from "../support/given.ts";
import { type Row, refused, row, SPEC_ITEMS, testItems } from "./rows.ts";
import {
  type Content,
  chunkAt,
  chunkKeyIn,
  convertedTo,
  fillIn,
  hex,
  jsonAt,
  type NewMembers,
  nodeIn,
  opens,
  sortedKeys,
  textAt,
  token,
  valuesIn,
  words,
} from "./stores.ts";

const META = {
  ...{ zarr_format: 1, shape: [4, 6], chunks: [2, 3], dtype: "<i4", fill_value: 0, order: "C" },
  ...{ compression: null, compression_opts: null },
};
const array = (members: object = {}, others: Content = {}) => ({
  meta: { ...META, ...members },
  attrs: {},
  ...others,
});
const bytes = (length: number, members: object = {}, chunk?: Uint8Array | string) =>
  array({ shape: [length], chunks: [length], dtype: "|u1", ...members }, chunkAt("0", chunk));
const grid = (members: object, chunk: Uint8Array) =>
  array({ shape: [2, 3], chunks: [2, 3], dtype: "|u1", ...members }, { "0.0": chunk });
const invalid = (pointer: string) =>
  refused("invalid-metadata", { pointer, format: "v1", path: "", key: "meta" });
const BLOSC = { compression: "blosc", compression_opts: { cname: "lz4", clevel: 5, shuffle: 1 } };
const ZLIB = { compression: "zlib", compression_opts: 1 };

function made(members: NewMembers = {}, items?: Uint8Array): Promise<MemoryStore> {
  const usual = { shape: [2], chunks: [1], dataType: "uint8", zarrFormat: "v1", codec: "none" } as const;
  return given({ ...usual, ...members, values: items ?? null });
}

/** What a chunk that others have written as xz holds. */
async function textOfXz(name: string): Promise<string> {
  const [, , base64 = ""] = LZMA_VECTORS.find(([other]) => other === name) ?? [];
  const lzma = {
    compression: "lzma",
    compression_opts: { format: 1, check: -1, preset: null, filters: null },
  };
  const items = await valuesIn(bytes(SAMPLE.length, lzma, Buffer.from(base64, "base64")));
  return Buffer.from(items as number[]).toString("hex");
}

async function copiedKeys(content: Content): Promise<string[]> {
  await copy(await nodeIn(content), "memory:spec-v1-copy", { ifExists: "replace" });
  return sortedKeys((await openStore({ kind: "memory", name: "spec-v1-copy" })) as MemoryStore);
}

function coordsOf(key: string): number[] | undefined {
  return formatNamed("v1").layout("").parseChunkKey(key, 2, { name: "plain", separator: "." });
}

const partly = (members: object) => expect.objectContaining(members);
const inV2 = async (content: Content) => (await convertedTo("v2", content))[".zarray"];

const refusals = (
  [
    ...Object.keys(META)
      .filter((name) => name !== "order")
      .map((name) => ["V1-10", { [name]: undefined }, invalid(`/${name}`)]),
    ["V1-6", { shape: [], chunks: [] }, invalid("/shape")],
    ["V1-11", { order: "X" }, invalid("/order")],
    ["V1-11", { order: null }, invalid("/order")],
    ["V1-12", { zarr_format: "1" }, invalid("/zarr_format")],
    ["V1-12", { zarr_format: null }, invalid("/zarr_format")],
    ["V1-12", { zarr_format: 2 }, refused("unsupported-format", { pointer: "/zarr_format", value: "2" })],
    ["V1-13", { shape: [4, -6] }, invalid("/shape")],
    ["V1-13", { shape: 4 }, invalid("/shape")],
    ["V1-13", { shape: [4, 1.5] }, invalid("/shape")],
    ["V1-13", { chunks: [2, 0] }, invalid("/chunks")],
    ["V1-13", { shape: [0, 6], chunks: [0, 6] }, invalid("/chunks")],
    ["V1-13", { chunks: [2] }, invalid("/chunks")],
    ["V1-13", { chunks: "2" }, invalid("/chunks")],
    ...["i4", "|i4", "<f16"].map((dtype) => ["V1-20", { dtype }, refused("unsupported-data-type", "/dtype")]),
    ["V1-21", { dtype: "|O", fill_value: null }, refused("unsupported-data-type", "/dtype")],
    ["V1-21", { dtype: [["a", "|O"]], fill_value: null }, refused("unsupported-data-type", "/dtype")],
    ["V1-30", { ...ZLIB, compression_opts: 10 }, "array"],
    ["V1-30", { ...ZLIB, compression_opts: "fast" }, invalid("/compression_opts")],
    ["V1-30", { compression: 5 }, invalid("/compression")],
    ["V1-30", { ...BLOSC, compression_opts: { clevel: 10 } }, "array"],
    ["V1-32", { compression: "lzma", compression_opts: { format: 3 } }, invalid("/compression_opts/filters")],
    ...["zopfli", "__proto__"].map((compression) => [
      "V1-34",
      { compression },
      refused("unsupported-codec", { pointer: "/compression", key: "meta" }),
    ]),
  ] as [string, object, unknown][]
).map(([id, members, expected]) => row(id, words(members), expected, () => opens(array(members))));

const fillValues = (
  [
    ["V1-50", "<f8", token("NaN"), Number.NaN],
    ["V1-50", "<f8", token("-Infinity"), Number.NEGATIVE_INFINITY],
    ["V1-50", "<f8", "NaN", Number.NaN],
    ["V1-50", "<f8", "-Infinity", Number.NEGATIVE_INFINITY],
    ["V1-50", "<f8", "nan", invalid("/fill_value")],
    ["V1-50", "|b1", true, 1],
    ["V1-50", "|S3", null, new Uint8Array(0)],
    ["V1-50", "|S3", "YWI=", hex("6162")],
    ["V1-50", "<U2", "ab", "ab"],
    ["V1-50", "<u8", token("18446744073709551615"), 2n ** 64n - 1n],
    ["V1-51", "<i4", token("NaN"), invalid("/fill_value")],
    ["V1-51", "<i4", 1.5, invalid("/fill_value")],
    ["V1-51", "|u1", 256, invalid("/fill_value")],
    ["V1-51", "<i4", true, invalid("/fill_value")],
    ["V1-51", "<i4", token("1.0"), 1],
    ["V1-51", "|b1", 0, 0],
    ["V1-45", ">i2", 258, 258],
    ["V1-40", "|u1", 5, 5],
    ["V1-40", "<f4", null, 0],
  ] as [string, string, unknown, unknown][]
).map(([id, dtype, fill_value, expected]): Row => {
  const act = () => fillIn(bytes(1, { dtype, fill_value }));
  return row(id, `${dtype} with the fill value ${words(fill_value)}`, expected, act);
});

const SIX = hex("000102030405");
const EDGE = { shape: [3], chunks: [2] };

const chunks: Row[] = [
  row("V1-3", "keys are numbers between periods", "4.2", () => chunkKeyIn(array(), 4, 2)),
  row("V1-3", "and one number in one dimension", "7", () => chunkKeyIn(bytes(9), 7)),
  row("V1-44", "items by chunks", "4.2", () =>
    chunkKeyIn(array({ shape: [100, 100], chunks: [10, 10] }), 4, 2),
  ),
  ...(["0.0", "12.3"] as const).map((key) =>
    row("V1-5", `${key} is a chunk key`, key.split(".").map(Number), () => coordsOf(key)),
  ),
  ...["0.0.xyz.partial", "0", "0.0.0", "00.1", "1.", "a.b"].map((key) =>
    row("V1-5", `${key} is none`, undefined, () => coordsOf(key)),
  ),
  row("V1-20", "structures, nested too", [{ a: 1, b: { c: 2 } }], bytes(1, nested(), "01 0002")),
  row("V1-30", "`gzip` of a zlib stream", [1, 2], bytes(2, gzip(), deflateSync(hex("0102")))),
  row("V1-30", "`gzip` of a gzip file", [1, 2], bytes(2, gzip(), gzipSync(hex("0102")))),
  ...["no check", "CRC-32, preset 0", "CRC-64", "SHA-256, extreme"].map((check) =>
    row("V1-33", `xz with ${check}`, Buffer.from(SAMPLE).toString("hex"), () => textOfXz(`xz, ${check}`)),
  ),
  row("V1-30", "`none`", [1, 2], bytes(2, { compression: "none" }, "0102")),
  row("V1-31", "chunks of zlib", [1, 2], bytes(2, ZLIB, deflateSync(hex("0102")))),
  row(
    "V1-35",
    "a frame of zstd 0.7",
    refused("codec-error", { path: "", key: "0", coords: [0], codec: "blosc" }),
    () =>
      valuesIn(bytes(16, BLOSC, "02018001 10000000 10000000 20000000 14000000 08000000 27b52ffd 00000000")),
  ),
  row("V1-42", "a chunk too short", corrupt("bytes", 2, 1), bytes(2, {}, "01")),
  row("V1-42", "a stream of another length", corrupt("zlib", 2, 1), bytes(2, ZLIB, deflateSync(hex("01")))),
  row("V1-42", "a cut stream", corrupt("zlib"), bytes(2, ZLIB, deflateSync(hex("0102")).subarray(0, 5))),
  row("V1-42", "a cut header", corrupt("blosc"), bytes(2, BLOSC, "020103")),
  row("V1-42", "a header of another length", corrupt("blosc", 2, 3), () =>
    valuesIn(bytes(2, BLOSC, "02010301 03000000 03000000 13000000 010203")),
  ),
  row("V1-43", "F is C in zlib", [0, 1, 2, 3, 4, 5], grid({ order: "F", ...ZLIB }, deflateSync(SIX))),
  row("V1-43", "F is C without compression", [0, 1, 2, 3, 4, 5], grid({ order: "F" }, SIX)),
  row("V1-43", "F is F in blosc", [0, 2, 4, 1, 3, 5], () =>
    valuesIn(grid({ order: "F", ...BLOSC }, hex("02010301 06000000 06000000 16000000 000102030405"))),
  ),
  row("V1-43", "F is not written without blosc", refused("loss-refused", { pointers: ["/order"] }), () =>
    made({ order: "F", shape: [2, 2], chunks: [1, 1] }),
  ),
  row("V1-41", "the edge is filled", hex("0309"), async () =>
    (await made({ ...EDGE, fillValue: 9 }, hex("010203"))).get("1"),
  ),
  row("V1-41", "with zero for null", hex("0300"), async () =>
    (await made({ ...EDGE, fillValue: null }, hex("010203"))).get("1"),
  ),
];

function nested() {
  return {
    dtype: [
      ["a", "|u1"],
      ["b", [["c", ">u2"]]],
    ],
    fill_value: null,
  };
}
function gzip() {
  return { compression: "gzip", compression_opts: 1 };
}
function corrupt(codec: string, expected?: number, found?: number) {
  const figures = expected === undefined ? {} : { expected, found };
  return refused("corrupt-chunk", { path: "", key: "0", coords: [0], codec, ...figures });
}

const documents: Row[] = [
  row("V1-1", "no `meta`", refused("not-found", { path: "" }), () => nodeIn({ attrs: {} })),
  row("V1-1", "no JSON", refused("invalid-metadata", { format: "v1", key: "meta" }), () =>
    nodeIn({ meta: "{" }),
  ),
  row("V1-2", "a list of attributes", refused("invalid-metadata", { key: "attrs" }), () =>
    nodeIn({ meta: META, attrs: [] }),
  ),
  row("V1-2", "no attributes", {}, async () => (await nodeIn({ meta: META })).attributes),
  row("V1-2", "attributes are sorted", '{\n    "bar": 4.2,\n    "baz": "quux",\n    "foo": 42\n}', async () =>
    textAt(await made({ attributes: { foo: 42, bar: 4.2, baz: "quux" } }), "attrs"),
  ),
  row("V1-4", "all keys in the root", ["0", "1", "attrs", "meta"], () => made({}, hex("0102"))),
  row("V1-46", "a new array has two keys", ["attrs", "meta"], () => made()),
  row("V1-6", "no dimensions", refused("invalid-option", {}), () => made({ shape: [], chunks: [] })),
  row("V1-7", "other keys are copied", ["a/b", "attrs", "meta", "notes"], () =>
    copiedKeys(array({}, { notes: "x", "a/b": "y" })),
  ),
  row(
    "V1-15",
    "sorted names, 4 spaces in",
    ["chunks", "compression", "compression_opts", "dtype", "fill_value", "order", "shape", "zarr_format"],
    async () => [...(await textAt(await made(), "meta")).matchAll(/^ {4}"(\w+)"/gm)].map(([, name]) => name),
  ),
  row("V1-11", "no order", "array", () => opens(array({ order: undefined }))),
  row("V1-14", "unknown names", "array", () => opens(array({ more: 1 }))),
  row(
    "V1-36",
    "blosc with lz4 by default",
    partly({ compression_opts: partly({ cname: "lz4" }) }),
    async () => jsonAt(await made({ codec: undefined } as NewMembers), "meta"),
  ),
  row("V1-36", "no zstd in blosc", refused("loss-refused", {}), () => made({ codec: "blosc:zstd:5" })),
  row("V1-52", "NaN is written bare", expect.stringMatching(/"fill_value": NaN,/), async () =>
    textAt(await made({ dataType: "float32", fillValue: Number.NaN }), "meta"),
  ),
  row(
    "V1-60",
    "zlib becomes v2's",
    partly({ order: "C", filters: null, compressor: { id: "zlib", level: 1 } }),
    () => inV2(array({ order: "F", ...ZLIB })),
  ),
  row(
    "V1-60",
    "blosc keeps its order",
    partly({ order: "F", compressor: partly(BLOSC.compression_opts) }),
    () => inV2(array({ order: "F", ...BLOSC })),
  ),
  row("V1-61", "`none` becomes null", partly({ compressor: null }), () =>
    inV2(array({ compression: "none" })),
  ),
];

const rows = [...refusals, ...fillValues, ...chunks, ...documents];

describe("Zarr v1", () => {
  testItems(SPEC_ITEMS.v1, rows);
});
