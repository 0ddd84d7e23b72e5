import { gzipSync } from "node:zlib";
import { gridShape } from "../../../src/meta/array-metadata.ts";
import type { Row } from "../rows.ts";
import { chunkKeyIn, fillIn, hex, sortedKeys, token, valuesIn, words } from "../stores.ts";
import { array, bytes, corrupt, GZIP, invalid, made, URI } from "./kit.ts";

const INVALID = invalid("/fill_value");
const grid = (...chunk_shape: number[]) => ({ chunk_grid: { type: "regular", chunk_shape } });

const fills = (
  [
    ["bool", true, 1],
    ["bool", 0, INVALID],
    ["<i2", token("1.0"), INVALID],
    ["<i2", token("1e0"), INVALID],
    ["<i2", 40000, INVALID],
    ["u1", -1, INVALID],
    ["<u8", token("18446744073709551615"), 2n ** 64n - 1n],
    ["<f4", "NaN", Number.NaN],
    ["<f4", "-Infinity", Number.NEGATIVE_INFINITY],
    ["<f4", token("1e400"), Number.POSITIVE_INFINITY],
    ["<f4", "nan", INVALID],
    ["<f4", token("NaN"), INVALID],
    ["<f4", "0x7fc00000", INVALID],
    ["u1", null, 0],
    ["bool", null, 0],
    [{ extension: URI, type: "x", fallback: "u1" }, null, 0],
    [{ extension: URI, type: "x", fallback: "u1" }, 7, 7],
  ] as [unknown, unknown, unknown][]
).map(([data_type, fill_value, expected]): Row => {
  const act = () => fillIn(bytes(1, { data_type, fill_value }));
  return ["D19-65", `${words(data_type)} with the fill value ${words(fill_value)}`, act, expected];
});

const chunks: Row[] = [
  ["D19-1", "chunks of a root array", () => valuesIn(bytes(2, {}, hex("0102"))), [1, 2]],
  [
    "D19-1",
    "keys in two trees",
    async () => sortedKeys(await made("/a/b", {}, { items: hex("0102") })),
    ["data/a/b/0", "data/a/b/1", "meta/root/a/b.array", "zarr.json"],
  ],
  ["D19-2", "no `root`, no `c`", () => chunkKeyIn(array(), 1, 2), "data/1.2"],
  [
    "D19-40",
    "any byte but 0 is true",
    () => valuesIn(bytes(3, { data_type: "bool", fill_value: false }, hex("000103"))),
    [0, 1, 1],
  ],
  ["D19-40", "u1 is unsigned", () => valuesIn(bytes(1, {}, hex("ff"))), [255]],
  ["D19-40", ">u2", () => valuesIn(bytes(1, { data_type: ">u2" }, hex("0100"))), [256]],
  ["D19-53", "the grid", () => gridShape([10, 200, 3000], [5, 20, 400]), [2, 10, 8]],
  [
    "D19-54",
    "a chunk id",
    () => chunkKeyIn(array({ shape: [9, 99, 99], ...grid(1, 1, 1) }), 1, 23, 45),
    "data/1.23.45",
  ],
  ["D19-54", "that of a scalar", () => chunkKeyIn(array({ shape: [], ...grid() })), "data/0"],
  [
    "D19-55",
    "cells beyond the edge are not read",
    () =>
      valuesIn(
        array({ shape: [3], ...grid(2), data_type: "u1" }, { "data/0": hex("0102"), "data/1": hex("0309") }),
      ),
    [1, 2, 3],
  ],
  [
    "D19-55",
    "and are filled",
    async () =>
      (await made("", { shape: [3], chunks: [2], fillValue: 9 }, { items: hex("010203") })).get("data/1"),
    hex("0309"),
  ],
  [
    "D19-60",
    "F",
    () =>
      valuesIn(
        array(
          { shape: [2, 3], ...grid(2, 3), data_type: "u1", chunk_memory_layout: "F" },
          { "data/0.0": hex("000102030405") },
        ),
      ),
    [0, 2, 4, 1, 3, 5],
  ],
  ...[GZIP, `${GZIP}/1.0`, GZIP.replace("http", "https")].map(
    (codec): Row => [
      "D19-61",
      codec,
      () => valuesIn(bytes(2, { compressor: { codec, configuration: { level: 1 } } }, gzipSync(hex("0102")))),
      [1, 2],
    ],
  ),
  [
    "D19-62",
    "a chunk of another length",
    () => valuesIn(bytes(2, {}, hex("010203"))),
    corrupt("bytes", 2, 3),
  ],
  [
    "D19-63",
    "when inflated",
    () => valuesIn(bytes(2, { compressor: { codec: GZIP } }, gzipSync(hex("01")))),
    corrupt("gzip", 2, 1),
  ],
  ["D19-66", "a missing chunk", () => valuesIn(bytes(2, { fill_value: 7 })), [7, 7]],
  [
    "D19-66",
    "is not written",
    async () => sortedKeys(await made("", {}, { items: hex("0001") })),
    ["data/1", "meta/root.array", "zarr.json"],
  ],
];

export const chunkRows: readonly Row[] = [...fills, ...chunks];
