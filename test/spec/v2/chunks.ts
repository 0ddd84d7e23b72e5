import { deflateSync, gzipSync } from "node:zlib";
import { type Row, refused, row } from "../rows.ts";
import { chunkKeyIn, hex, joined, token, valuesIn } from "../stores.ts";
import { array, bytes, corrupt, made } from "./kit.ts";

const ZLIB = { id: "zlib", level: 1 };
const STRINGS = { dtype: "|O", fill_value: null, filters: [{ id: "vlen-utf8" }] };
const EDGE = { shape: [3], chunks: [2] };
const WITHOUT_COORDS = { path: "", key: "0", codec: "blosc" };

const keys: Row[] = [
  row("V2-30", "the grid goes as far as the last item", [1, 2, 3], () =>
    valuesIn(
      array(
        { shape: [3], chunks: [2], dtype: "|u1" },
        { "0": hex("0102"), "1": hex("03ff"), "2": hex("0909") },
      ),
    ),
  ),
  row("V2-31", "numbers and periods", "2.4", () =>
    chunkKeyIn(array({ shape: [3000, 5000], chunks: [1000, 1000] }), 2, 4),
  ),
  row("V2-31", "or slashes", "2/4", () => chunkKeyIn(array({ dimension_separator: "/" }), 2, 4)),
  row("V2-32", "a scalar has the key 0", [7], () =>
    valuesIn(array({ shape: [], chunks: [], dtype: "|u1" }, { "0": hex("07") })),
  ),
  row("V2-33", "cells beyond the edge are filled", hex("0309"), async () =>
    (await made("", { ...EDGE, fillValue: 9 }, { items: hex("010203") })).get("1"),
  ),
  row("V2-33", "with zero for null", hex("0300"), async () =>
    (await made("", { ...EDGE, fillValue: null }, { items: hex("010203") })).get("1"),
  ),
  row("V2-34", "missing is the fill value", [7, 7], bytes(2, { fill_value: 7 })),
  row("V2-34", "or zero for null", [0, 0], bytes(2, { fill_value: null })),
  row("V2-34", "-0.0 is not 0.0", [".zarray", "1"], () =>
    made("", { dataType: "float32" }, { items: hex("00000000 00000080") }),
  ),
  row("V2-34", "nothing is left out for null", [".zarray", "0", "1"], () =>
    made("", { fillValue: null }, { items: hex("0000") }),
  ),
  row("V2-35", "chunks beyond the grid are not read", [1, 2], () =>
    valuesIn(array({ shape: [2], chunks: [2], dtype: "|u1" }, { "0": hex("0102"), "1": hex("") })),
  ),
];

const coding: Row[] = [
  row("V2-15", "F", [0, 2, 4, 1, 3, 5], () =>
    valuesIn(
      array({ shape: [2, 3], chunks: [2, 3], dtype: "|u1", order: "F" }, { "0.0": hex("000102030405") }),
    ),
  ),
  row("V2-22", "sub-arrays lie in C order under F", [{ a: [1, 2, 3, 4] }, { a: [5, 6, 7, 8] }], () =>
    valuesIn(
      array(
        { shape: [2, 1], chunks: [2, 1], order: "F", dtype: [["a", "|u1", [2, 2]]], fill_value: null },
        { "0.0": hex("0102030405060708") },
      ),
    ),
  ),
  row("V2-50", "order, filters, compressor, back", [1, 3, 2, 4], () =>
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
  ),
  row("V2-51", "too short", corrupt("bytes", 4, 3), bytes(4, {}, "010203")),
  row("V2-51", "too long", corrupt("bytes", 4, 5), bytes(4, {}, "0102030405")),
  row("V2-51", "empty", corrupt("bytes", 4, 0), bytes(4, {}, "")),
  row("V2-51", "too short when inflated", corrupt("zlib", 4, 3), () =>
    valuesIn(bytes(4, { compressor: ZLIB }, deflateSync(hex("010203")))),
  ),
  row("V2-52", "a compressor among the filters", [1, 2], () =>
    valuesIn(bytes(2, { filters: [ZLIB] }, deflateSync(hex("0102")))),
  ),
  row("V2-52", "a filter as the compressor", [1, 2], () =>
    valuesIn(bytes(2, { compressor: { id: "delta", dtype: "|u1" } }, "0101")),
  ),
  row("V2-53", "delta of the text", [1, 2, 4, 7.5], () =>
    valuesIn(
      bytes(
        4,
        { dtype: "<f8", filters: [{ id: "delta", dtype: "<f8", astype: "<f4" }] },
        "0000803f 0000803f 00000040 00006040",
      ),
    ),
  ),
  row("V2-53", "integers wrap", [255, 1], bytes(2, { filters: [{ id: "delta", dtype: "|u1" }] }, "ff02")),
  row("V2-54", "gzip in members", [1, 2], () =>
    valuesIn(
      bytes(2, { compressor: { id: "gzip", level: 1 } }, joined(gzipSync(hex("01")), gzipSync(hex("02")))),
    ),
  ),
  row("V2-54", "lz4 after its length", [1, 2], bytes(2, { compressor: { id: "lz4" } }, "02000000 20 0102")),
  row("V2-54", "lz4 of another length", corrupt("lz4"), () =>
    valuesIn(bytes(2, { compressor: { id: "lz4" } }, "ffffff7f 20 0102")),
  ),
  row("V2-56", "another count", corrupt("vlen-utf8", 2, 1), bytes(2, STRINGS, "01000000 01000000 61")),
  row("V2-56", "a cut item", corrupt("vlen-utf8"), bytes(1, STRINGS, "01000000 02000000 61")),
  row("V2-56", "no UTF-8", corrupt("vlen-utf8"), bytes(1, STRINGS, "01000000 01000000 ff")),
  row("V2-56", "0 is its text", ["0"], bytes(1, { ...STRINGS, fill_value: 0 })),
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
  return row("V2-60", what, expected, bytes(4, { compressor }, text));
});

export const chunkRows: readonly Row[] = [...keys, ...coding, ...blosc];
