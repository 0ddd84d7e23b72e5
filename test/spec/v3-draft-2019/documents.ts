import { gzipSync } from "node:zlib";
import { open, setAttributes } from "../../../src/index.ts";
import { gridShape } from "../../../src/meta/array-metadata.ts";
import { type Row, refused, row } from "../rows.ts";
import {
  chunkKeyIn,
  fillIn,
  findingsIn,
  hex,
  jsonAt,
  nodeIn,
  opens,
  storeOf,
  textAt,
  token,
  typeIn,
  valuesIn,
  words,
} from "../stores.ts";
import { ARRAY, array, BOOTSTRAP, bytes, corrupt, GZIP, hierarchy, invalid, made, URI } from "./kit.ts";

const DATETIME = "http://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0";
const LATER = { ...BOOTSTRAP, metadata_encoding: BOOTSTRAP.zarr_format };
const understood = (must_understand: unknown) => ({ extensions: [{ extension: URI, must_understand }] });
const encoded = (members: object) => ({ compressor: { codec: GZIP, ...members } });
const grid = (members: object) => ({ chunk_grid: { type: "regular", chunk_shape: [2, 3], ...members } });
const ofBootstrap = (pointer: string) => invalid(pointer, "zarr.json");

const bootstrap = (
  [
    ["D19-21", { zarr_format: "https://purl.org/zarr/spec/protocol/core/3.7", more: 1 }, "group"],
    ["D19-21", { zarr_format: "http://purl.org/zarr/spec/protocol/core/3.0" }, "group"],
    [
      "D19-21",
      { zarr_format: "https://purl.org/zarr/spec/protocol/core/4.0" },
      refused("unsupported-format", { pointer: "/zarr_format", key: "zarr.json" }),
    ],
    ["D19-22", { metadata_encoding: undefined }, ofBootstrap("/metadata_encoding")],
    ["D19-22", { metadata_encoding: 1 }, ofBootstrap("/metadata_encoding")],
    [
      "D19-22",
      { metadata_encoding: "application/cbor" },
      refused("unsupported-encoding", {
        pointer: "/metadata_encoding",
        format: "v3-draft-2019",
        key: "zarr.json",
      }),
    ],
    ["D19-23", understood(false), "group"],
    [
      "D19-23",
      understood(true),
      refused("unsupported-extension", { pointer: "/extensions/0", key: "zarr.json" }),
    ],
    ["D19-23", understood(undefined), ofBootstrap("/extensions/0/must_understand")],
    ["D19-23", understood("true"), ofBootstrap("/extensions/0/must_understand")],
    ["D19-23", understood(null), ofBootstrap("/extensions/0/must_understand")],
    ["D19-23", { extensions: [{ must_understand: true }] }, ofBootstrap("/extensions/0/extension")],
    ["D19-23", { extensions: undefined }, "group"],
    ["D19-23", { extensions: null }, ofBootstrap("/extensions")],
    ["D19-23", { extensions: {} }, ofBootstrap("/extensions")],
    ["D19-90", { ...LATER, metadata_key_suffix: ".json" }, "group"],
    [
      "D19-90",
      { ...LATER, metadata_key_suffix: ".xml" },
      refused("unsupported-format", { pointer: "/metadata_key_suffix", format: "v3-draft-2020" }),
    ],
  ] as [string, object, unknown][]
).map(([id, members, expected]) => row(id, words(members), expected, () => opens(hierarchy({}, members))));

const arrays = (
  [
    ...["shape", "data_type", "chunk_grid", "chunk_memory_layout", "fill_value"].map((name) => [
      "D19-30",
      { [name]: undefined },
      invalid(`/${name}`),
    ]),
    ["D19-30", { compressor: null }, "array"],
    ["D19-31", { more: 1, dimension_names: 3 }, "array"],
    ["D19-32", { shape: [4, -1] }, invalid("/shape")],
    ["D19-32", { shape: [4, 1.5] }, invalid("/shape")],
    ["D19-32", { shape: [], chunk_grid: { type: "regular", chunk_shape: [] } }, "array"],
    ["D19-33", { attributes: [] }, invalid("/attributes")],
    ["D19-33", { attributes: null }, invalid("/attributes")],
    ...["|i1", "|u1", "|b1", "<c8", "<i1", "i2", "|S3", "<M8[s]", "int32"].map((data_type) => [
      "D19-41",
      { data_type },
      refused("unsupported-data-type", { pointer: "/data_type", value: JSON.stringify(data_type) }),
    ]),
    ["D19-42", { data_type: { extension: URI, fallback: "<i4" } }, invalid("/data_type/type")],
    ["D19-42", { data_type: { type: "x", fallback: "<i4" } }, invalid("/data_type/extension")],
    ["D19-42", { data_type: { extension: URI, type: "x" } }, refused("unsupported-data-type", "/data_type")],
    ["D19-42", { data_type: { extension: URI, type: "x", fallback: "|S3" } }, invalid("/data_type/fallback")],
    [
      "D19-43",
      { data_type: { extension: URI, type: "x", fallback: null } },
      refused("unsupported-data-type", "/data_type"),
    ],
    ...[3, null, ["<i4"], true].map((data_type) => ["D19-44", { data_type }, invalid("/data_type")]),
    ["D19-50", grid({ chunk_shape: [2] }), invalid("/chunk_grid/chunk_shape")],
    ["D19-50", grid({ chunk_shape: [2, 0] }), invalid("/chunk_grid/chunk_shape")],
    ["D19-50", grid({ chunk_shape: undefined }), invalid("/chunk_grid/chunk_shape")],
    ["D19-50", grid({ type: undefined }), invalid("/chunk_grid/type")],
    ["D19-51", grid({ separator: "-" }), invalid("/chunk_grid/separator")],
    ["D19-51", grid({ separator: null }), invalid("/chunk_grid/separator")],
    ["D19-52", grid({ extension: URI }), refused("unsupported-extension", "/chunk_grid")],
    ["D19-52", grid({ type: "irregular" }), refused("unsupported-extension", "/chunk_grid")],
    ["D19-52", { chunk_grid: { extension: URI } }, invalid("/chunk_grid/type")],
    ["D19-52", grid({ extension: 1 }), invalid("/chunk_grid/extension")],
    ["D19-60", { chunk_memory_layout: "K" }, invalid("/chunk_memory_layout")],
    ["D19-60", { chunk_memory_layout: null }, invalid("/chunk_memory_layout")],
    [
      "D19-60",
      { chunk_memory_layout: { extension: URI, type: "x" } },
      refused("unsupported-extension", "/chunk_memory_layout"),
    ],
    ["D19-60", { chunk_memory_layout: { extension: URI } }, invalid("/chunk_memory_layout/type")],
    ["D19-60", { chunk_memory_layout: { type: "x" } }, invalid("/chunk_memory_layout/extension")],
    [
      "D19-61",
      encoded({ codec: "http://example.org/foo" }),
      refused("unsupported-codec", "/compressor/codec"),
    ],
    ["D19-61", encoded({ codec: `${GZIP}/2.0` }), refused("unsupported-codec", "/compressor/codec")],
    ["D19-64", { compressor: "gzip" }, invalid("/compressor")],
    ["D19-64", { compressor: {} }, invalid("/compressor/codec")],
    ["D19-64", encoded({ codec: 1 }), invalid("/compressor/codec")],
    ["D19-64", encoded({}), "array"],
    ["D19-64", encoded({ configuration: [] }), invalid("/compressor/configuration")],
    ["D19-64", encoded({ configuration: { level: 10 } }), invalid("/compressor/configuration/level")],
    ["D19-64", encoded({ configuration: { level: 1.5 } }), invalid("/compressor/configuration/level")],
    [
      "D19-67",
      understood(true),
      refused("unsupported-extension", { pointer: "/extensions/0", key: "meta/root.array" }),
    ],
    ["D19-67", understood("true"), invalid("/extensions/0/must_understand")],
  ] as [string, object, unknown][]
).map(([id, members, expected]) => row(id, words(members), expected, () => opens(array(members))));

const root = (document: unknown) => () => opens(hierarchy({ "meta/root.group": document }));
const isNone = (pointer?: string) =>
  refused("invalid-metadata", { key: "meta/root.group", ...(pointer && { pointer }) });

const SPACED = { "zarr.json": JSON.stringify({ ...BOOTSTRAP, more: 1 }, null, 7) };

const documents: Row[] = [
  row("D19-20", "no bootstrap document", refused("not-found"), () => nodeIn({ "meta/root.array": ARRAY })),
  row("D19-20", "no JSON", refused("invalid-metadata", { key: "zarr.json" }), () =>
    nodeIn({ "zarr.json": "{" }),
  ),
  row(
    "D19-23",
    "extensions are judged before arrays",
    refused("unsupported-extension", "/extensions/0"),
    () => opens(hierarchy({ "meta/root.array": "{" }, understood(true))),
  ),
  row("D19-25", "a bootstrap document stays", SPACED["zarr.json"], async () =>
    textAt(await made("a", {}, { content: SPACED }), "zarr.json"),
  ),
  row("D19-25", "and is made first", BOOTSTRAP, async () =>
    jsonAt(await made("a", {}, { content: {} }), "zarr.json"),
  ),
  row("D19-30", "absent lists and attributes", ["/extensions", "/attributes"], () =>
    findingsIn(array({ extensions: undefined, attributes: undefined })),
  ),
  row("D19-30", "what is written", Object.keys(ARRAY), async () =>
    Object.keys(await jsonAt(await made("a"), "meta/root/a.array")),
  ),
  row("D19-31", "other names are never written", false, async () => "more" in (await edited({ more: 1 }))),
  row("D19-42", "a fallback is said", ["/data_type"], () =>
    findingsIn(array({ data_type: { extension: URI, type: "x", fallback: "<i4" } })),
  ),
  row("D19-43", "times are integers", { kind: "int", size: 8 }, () =>
    typeIn(array({ data_type: { extension: DATETIME, type: "<M8[ns]", fallback: "<i8" } })),
  ),
  row("D19-33", "attributes of a group", isNone("/attributes"), root({ extensions: [], attributes: 1 })),
  row(
    "D19-67",
    "of a group",
    refused("unsupported-extension", { key: "meta/root.group" }),
    root(understood(true)),
  ),
  row("D19-70", "a trailing comma", isNone(), root('{"extensions": [], "attributes": {},}')),
  row("D19-70", "nothing in it", "group", root({})),
];

async function edited(members: object): Promise<Record<string, unknown>> {
  const store = await storeOf(array(members));
  await setAttributes(await open(store), { a: 1 });
  return jsonAt(store, "meta/root.array");
}

export const documentRows: readonly Row[] = [...bootstrap, ...arrays, ...documents];

const INVALID = invalid("/fill_value");
const chunked = (...chunk_shape: number[]) => grid({ chunk_shape });

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
  return row("D19-65", `${words(data_type)} with the fill value ${words(fill_value)}`, expected, act);
});

const chunks: Row[] = [
  row("D19-1", "chunks of a root array", [1, 2], bytes(2, {}, "0102")),
  row("D19-1", "keys in two trees", ["data/a/b/0", "data/a/b/1", "meta/root/a/b.array", "zarr.json"], () =>
    made("/a/b", {}, { items: hex("0102") }),
  ),
  row("D19-2", "no `root`, no `c`", "data/1.2", () => chunkKeyIn(array(), 1, 2)),
  row("D19-40", "any byte but 0 is true", [0, 1, 1], () =>
    valuesIn(bytes(3, { data_type: "bool", fill_value: false }, "000103")),
  ),
  row("D19-40", "u1 is unsigned", [255], bytes(1, {}, "ff")),
  row("D19-40", ">u2", [256], bytes(1, { data_type: ">u2" }, "0100")),
  row("D19-53", "the grid", [2, 10, 8], () => gridShape([10, 200, 3000], [5, 20, 400])),
  row("D19-54", "a chunk id", "data/1.23.45", () =>
    chunkKeyIn(array({ shape: [9, 99, 99], ...chunked(1, 1, 1) }), 1, 23, 45),
  ),
  row("D19-54", "that of a scalar", "data/0", () => chunkKeyIn(array({ shape: [], ...chunked() }))),
  row("D19-55", "cells beyond the edge are not read", [1, 2, 3], () =>
    valuesIn(
      array({ shape: [3], ...chunked(2), data_type: "u1" }, { "data/0": hex("0102"), "data/1": hex("0309") }),
    ),
  ),
  row("D19-55", "and are filled", hex("0309"), async () =>
    (await made("", { shape: [3], chunks: [2], fillValue: 9 }, { items: hex("010203") })).get("data/1"),
  ),
  row("D19-60", "F", [0, 2, 4, 1, 3, 5], () =>
    valuesIn(
      array(
        { shape: [2, 3], ...chunked(2, 3), data_type: "u1", chunk_memory_layout: "F" },
        { "data/0.0": hex("000102030405") },
      ),
    ),
  ),
  ...[GZIP, `${GZIP}/1.0`, GZIP.replace("http", "https")].map((codec) =>
    row("D19-61", codec, [1, 2], () =>
      valuesIn(bytes(2, { compressor: { codec, configuration: { level: 1 } } }, gzipSync(hex("0102")))),
    ),
  ),
  row("D19-62", "a chunk of another length", corrupt("bytes", 2, 3), bytes(2, {}, "010203")),
  row("D19-63", "when inflated", corrupt("gzip", 2, 1), () =>
    valuesIn(bytes(2, { compressor: { codec: GZIP } }, gzipSync(hex("01")))),
  ),
  row("D19-66", "a missing chunk", [7, 7], bytes(2, { fill_value: 7 })),
  row("D19-66", "is not written", ["data/1", "meta/root.array", "zarr.json"], () =>
    made("", {}, { items: hex("0001") }),
  ),
];

export const chunkRows: readonly Row[] = [...fills, ...chunks];
