import { deflateSync, gzipSync } from "node:zlib";
import { type Row, refused } from "../rows.ts";
import { chunkKeyIn, hex, joined, sortedKeys, token, valuesIn } from "../stores.ts";
import { array, bytes, corrupt, made } from "./kit.ts";

const ZLIB = { id: "zlib", level: 1 };
const STRINGS = { dtype: "|O", fill_value: null, filters: [{ id: "vlen-utf8" }] };
const EDGE = { shape: [3], chunks: [2] };
const WITHOUT_COORDS = { path: "", key: "0", codec: "blosc" };

const keys: Row[] = [
  [
    "V2-30",
    "the grid goes as far as the last item",
    () =>
      valuesIn(
        array(
          { shape: [3], chunks: [2], dtype: "|u1" },
          { "0": hex("0102"), "1": hex("03ff"), "2": hex("0909") },
        ),
      ),
    [1, 2, 3],
  ],
  [
    "V2-31",
    "numbers and periods",
    () => chunkKeyIn(array({ shape: [3000, 5000], chunks: [1000, 1000] }), 2, 4),
    "2.4",
  ],
  ["V2-31", "or slashes", () => chunkKeyIn(array({ dimension_separator: "/" }), 2, 4), "2/4"],
  [
    "V2-32",
    "a scalar has the key 0",
    () => valuesIn(array({ shape: [], chunks: [], dtype: "|u1" }, { "0": hex("07") })),
    [7],
  ],
  [
    "V2-33",
    "cells beyond the edge are filled",
    async () => (await made("", { ...EDGE, fillValue: 9 }, { items: hex("010203") })).get("1"),
    hex("0309"),
  ],
  [
    "V2-33",
    "with zero for null",
    async () => (await made("", { ...EDGE, fillValue: null }, { items: hex("010203") })).get("1"),
    hex("0300"),
  ],
  ["V2-34", "missing is the fill value", () => valuesIn(bytes(2, { fill_value: 7 })), [7, 7]],
  ["V2-34", "or zero for null", () => valuesIn(bytes(2, { fill_value: null })), [0, 0]],
  [
    "V2-34",
    "-0.0 is not 0.0",
    async () => sortedKeys(await made("", { dataType: "float32" }, { items: hex("00000000 00000080") })),
    [".zarray", "1"],
  ],
  [
    "V2-34",
    "nothing is left out for null",
    async () => sortedKeys(await made("", { fillValue: null }, { items: hex("0000") })),
    [".zarray", "0", "1"],
  ],
  [
    "V2-35",
    "chunks beyond the grid are not read",
    () => valuesIn(array({ shape: [2], chunks: [2], dtype: "|u1" }, { "0": hex("0102"), "1": hex("") })),
    [1, 2],
  ],
];

const coding: Row[] = [
  [
    "V2-15",
    "F",
    () =>
      valuesIn(
        array({ shape: [2, 3], chunks: [2, 3], dtype: "|u1", order: "F" }, { "0.0": hex("000102030405") }),
      ),
    [0, 2, 4, 1, 3, 5],
  ],
  [
    "V2-22",
    "sub-arrays lie in C order under F",
    () =>
      valuesIn(
        array(
          { shape: [2, 1], chunks: [2, 1], order: "F", dtype: [["a", "|u1", [2, 2]]], fill_value: null },
          { "0.0": hex("0102030405060708") },
        ),
      ),
    [{ a: [1, 2, 3, 4] }, { a: [5, 6, 7, 8] }],
  ],
  [
    "V2-50",
    "order, filters, compressor, back",
    () =>
      valuesIn(
        array(
          {
            shape: [2, 2],
            chunks: [2, 2],
            dtype: "|u1",
            order: "F",
            filters: [{ id: "delta", dtype: "|u1" }],
            compressor: ZLIB,
          },
          { "0.0": deflateSync(hex("01010101")) },
        ),
      ),
    [1, 3, 2, 4],
  ],
  ["V2-51", "too short", () => valuesIn(bytes(4, {}, hex("010203"))), corrupt("bytes", 4, 3)],
  ["V2-51", "too long", () => valuesIn(bytes(4, {}, hex("0102030405"))), corrupt("bytes", 4, 5)],
  ["V2-51", "empty", () => valuesIn(bytes(4, {}, hex(""))), corrupt("bytes", 4, 0)],
  [
    "V2-51",
    "too short when inflated",
    () => valuesIn(bytes(4, { compressor: ZLIB }, deflateSync(hex("010203")))),
    corrupt("zlib", 4, 3),
  ],
  [
    "V2-52",
    "a compressor among the filters",
    () => valuesIn(bytes(2, { filters: [ZLIB] }, deflateSync(hex("0102")))),
    [1, 2],
  ],
  [
    "V2-52",
    "a filter as the compressor",
    () => valuesIn(bytes(2, { compressor: { id: "delta", dtype: "|u1" } }, hex("0101"))),
    [1, 2],
  ],
  [
    "V2-53",
    "delta of the text",
    () =>
      valuesIn(
        bytes(
          4,
          { dtype: "<f8", filters: [{ id: "delta", dtype: "<f8", astype: "<f4" }] },
          hex("0000803f 0000803f 00000040 00006040"),
        ),
      ),
    [1, 2, 4, 7.5],
  ],
  [
    "V2-53",
    "integers wrap",
    () => valuesIn(bytes(2, { filters: [{ id: "delta", dtype: "|u1" }] }, hex("ff02"))),
    [255, 1],
  ],
  [
    "V2-54",
    "gzip in members",
    () =>
      valuesIn(
        bytes(2, { compressor: { id: "gzip", level: 1 } }, joined(gzipSync(hex("01")), gzipSync(hex("02")))),
      ),
    [1, 2],
  ],
  [
    "V2-54",
    "lz4 after its length",
    () => valuesIn(bytes(2, { compressor: { id: "lz4" } }, hex("02000000 20 0102"))),
    [1, 2],
  ],
  [
    "V2-54",
    "lz4 of another length",
    () => valuesIn(bytes(2, { compressor: { id: "lz4" } }, hex("ffffff7f 20 0102"))),
    corrupt("lz4"),
  ],
  [
    "V2-56",
    "another count",
    () => valuesIn(bytes(2, STRINGS, hex("01000000 01000000 61"))),
    corrupt("vlen-utf8", 2, 1),
  ],
  [
    "V2-56",
    "a cut item",
    () => valuesIn(bytes(1, STRINGS, hex("01000000 02000000 61"))),
    corrupt("vlen-utf8"),
  ],
  ["V2-56", "no UTF-8", () => valuesIn(bytes(1, STRINGS, hex("01000000 01000000 ff"))), corrupt("vlen-utf8")],
  ["V2-56", "0 is its text", () => valuesIn(bytes(1, { ...STRINGS, fill_value: 0 })), ["0"]],
];

/** Containers of blosc with four bytes; each breaks one rule of V2-60. */
const blosc = (
  [
    ["another decoded size", "02010201 05000000 05000000 15000000 0102030405", corrupt("blosc", 4, 5)],
    ["2 GiB in 21 bytes", "02010201 ffffff7f 05000000 15000000 0102030405", corrupt("blosc")],
    ["more bytes than there are", "02010201 04000000 04000000 15000000 01020304", corrupt("blosc")],
    ["no type size", "02010000 04000000 04000000 18000000 14000000 01020304", corrupt("blosc")],
    ["a block outside", "02012001 04000000 04000000 18000000 ff000000 01020304", corrupt("blosc")],
    ["a cut header", "0201", corrupt("blosc")],
    [
      "another version",
      "03010201 04000000 04000000 14000000 01020304",
      refused("codec-error", WITHOUT_COORDS),
    ],
    [
      "codec 5",
      "0201a001 04000000 04000000 18000000 14000000 01020304",
      refused("codec-error", WITHOUT_COORDS),
    ],
    ["raw, whatever its shuffle says", "02010301 04000000 04000000 14000000 01020304", [1, 2, 3, 4]],
  ] as const
).map(([what, text, expected]): Row => {
  const compressor = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: token("0") };
  return ["V2-60", what, () => valuesIn(bytes(4, { compressor }, hex(text))), expected];
});

export const chunkRows: readonly Row[] = [...keys, ...coding, ...blosc];
