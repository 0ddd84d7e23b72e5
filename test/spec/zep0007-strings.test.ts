import { describe, expect } from "vitest";
import { open, rechunk, setAttributes } from "../../src/index.ts";
import { v3 } from "../../src/meta/v3/v3.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { given } from "../support/given.ts";
import { testCoverage } from "./coverage.ts";
import { SPEC_ITEMS } from "./items.ts";
import { type Row, refused, testRows } from "./rows.ts";
import {
  type Content,
  codecsIn,
  fillIn,
  hex,
  joined,
  jsonAt,
  nodeIn,
  opens,
  storeOf,
  typeIn,
  valuesIn,
  words,
} from "./stores.ts";

const ARRAY = {
  ...{ zarr_format: 3, node_type: "array", shape: [2], data_type: "string", fill_value: "" },
  ...{ chunk_key_encoding: { name: "default" }, codecs: [] as unknown[] },
};
const LITTLE = { name: "bytes", configuration: { endian: "little" } };

function array(members: { shape?: number[]; [name: string]: unknown } = {}, chunk?: Uint8Array): Content {
  const { shape = ARRAY.shape } = members;
  const chunk_grid = { name: "regular", configuration: { chunk_shape: shape } };
  const key = ["c", ...shape.map(() => 0)].join("/");
  return { "zarr.json": { ...ARRAY, chunk_grid, ...members }, ...(chunk && { [key]: chunk }) };
}

const i32 = (...offsets: number[]) => new Uint8Array(Int32Array.from(offsets).buffer);
const i64 = (...offsets: bigint[]) => new Uint8Array(BigInt64Array.from(offsets).buffer);
const upTo = (n: number) => Array.from({ length: n + 1 }, (_, i) => i);

/** A chunk: offsets, zeros up to a multiple of 64 bytes, data. */
function chunk(offsets: Uint8Array, data: string | Uint8Array = ""): Uint8Array {
  const padding = new Uint8Array(Math.ceil(offsets.length / 64) * 64 - offsets.length);
  return joined(offsets, padding, typeof data === "string" ? new TextEncoder().encode(data) : data);
}

const corrupt = (details: object = {}) =>
  refused("corrupt-chunk", { path: "", key: "c/0", coords: [0], codec: "zep0007", ...details });
const unsupported = refused("unsupported-data-type", "/data_type");
const inShards = (codecs: unknown[]) => [
  { name: "sharding_indexed", configuration: { chunk_shape: [1], codecs, index_codecs: [LITTLE] } },
];

const types = (
  [
    ["S7-1", "string", "string"],
    ["S7-1", { name: "string" }, "string"],
    ["S7-1", "binary", "binary"],
    ["S7-1", { name: "binary" }, "binary"],
    ["S7-2", "LargeString", "string"],
    ["S7-2", "large_string", "string"],
    ["S7-2", { name: "LargeBinary" }, "binary"],
    ["S7-2", "large_binary", "binary"],
    ["S7-2", { name: "string", fallback: "binary" }, "string"],
    ["S7-2", { name: "string", configuration: {} }, "string"],
    ["S7-2", { name: "binary", must_understand: true }, "binary"],
    ...[
      ...[{ more: 1 }, { fallback: "bytes" }, { configuration: { a: 1 } }, { must_understand: false }].map(
        (members) => ({ name: "string", ...members }),
      ),
      { name: "binary", fallback: "binary" },
      { name: "LargeString", fallback: "binary" },
    ].map((type) => ["S7-2", type, unsupported]),
    ...["List", "LargeList", { name: "List" }, "StringView", "BinaryView"].map((type) => [
      "S7-5",
      type,
      unsupported,
    ]),
    ["S7-40", "bytes", unsupported],
    ["S7-40", "variable_length_bytes", unsupported],
  ] as [string, unknown, unknown][]
).map(([id, data_type, expected]): Row => {
  const members = { data_type, fill_value: null };
  const act = async () => ((await typeIn(array(members))) as { kind: string }).kind;
  return [id, words(data_type), act, expected];
});

const lists = (
  [
    [
      "S7-30",
      "string",
      [{ ...LITTLE, configuration: { endian: "big" } }],
      refused("unsupported-codec", "/codecs/0/configuration/endian"),
    ],
    ["S7-31", "string", ["crc32c"], "array"],
    ...[
      { name: "numcodecs.delta", configuration: { dtype: "<i4" } },
      { name: "bitround", configuration: { keepbits: 3 } },
      { name: "scale_offset", configuration: { scale: 1, offset: 1 } },
      { name: "cast_value", configuration: { data_type: "int8" } },
    ].flatMap((codec) => [
      ["S7-34", "string", [codec], refused("unsupported-codec", "/codecs/0")],
      ["S7-34", "string", [codec, "vlen-utf8"], refused("unsupported-codec", "/codecs/0")],
    ]),
    ["S7-32", "string", inShards([]), "array"],
    ["S7-40", "bytes", ["vlen-bytes"], "array"],
    ["S7-40", "variable_length_bytes", ["vlen-bytes"], "array"],
    ["S7-40", "binary", ["vlen-bytes"], "array"],
    ["S7-40", "variable_length_bytes", ["bytes"], unsupported],
    ["S7-40", "LargeString", ["vlen-utf8"], refused("invalid-metadata", "/codecs")],
    [
      "S7-40",
      "LargeString",
      inShards(["vlen-utf8"]),
      refused("invalid-metadata", "/codecs/0/configuration/codecs"),
    ],
  ] as [string, string, unknown[], unknown][]
).map(([id, data_type, codecs, expected]): Row => {
  const members = { data_type, codecs, fill_value: data_type.includes("tring") ? "" : [] };
  return [id, `${data_type} by ${words(codecs)}`, () => opens(array(members)), expected];
});

const reading: Row[] = [
  [
    "S7-3",
    "any bytes",
    () => valuesIn(array({ data_type: "binary" }, chunk(i32(0, 1, 3), hex("ff80fe")))),
    [hex("ff"), hex("80fe")],
  ],
  ["S7-4", "strings are strings", () => valuesIn(array({}, chunk(i32(0, 1, 3), "aé"))), ["a", "é"]],
  [
    "S7-10",
    "the worked example",
    () =>
      valuesIn(
        array(
          { shape: [4] },
          joined(
            hex("00000000 03000000 08000000 0d000000 10000000"),
            new Uint8Array(44),
            new TextEncoder().encode("thequickbrownfox"),
          ),
        ),
      ),
    ["the", "quick", "brown", "fox"],
  ],
  [
    "S7-11",
    "15 items of 4 bytes need no padding",
    async () =>
      (
        await valuesIn(
          array({ shape: [15] }, joined(i32(...upTo(15)), new TextEncoder().encode("abcdefghijklmno"))),
        )
      ).join(""),
    "abcdefghijklmno",
  ],
  [
    "S7-11",
    "nor do 7 of 8",
    async () =>
      (
        await valuesIn(
          array(
            { shape: [7], data_type: "LargeString" },
            joined(i64(...upTo(7).map(BigInt)), new TextEncoder().encode("abcdefg")),
          ),
        )
      ).join(""),
    "abcdefg",
  ],
  [
    "S7-12",
    "C order",
    () => valuesIn(array({ shape: [2, 2] }, chunk(i32(...upTo(4)), "abcd"))),
    ["a", "b", "c", "d"],
  ],
  [
    "S7-16",
    "a byte order mark is text",
    () => valuesIn(array({}, chunk(i32(0, 3, 3), hex("efbbbf")))),
    ["\ufeff", ""],
  ],
  ["S7-20", "nothing", () => valuesIn(array({}, hex(""))), corrupt({ found: 0 })],
  ["S7-20", "a byte too few", () => valuesIn(array({}, i32(0, 0, 0).subarray(1))), corrupt({ found: 11 })],
  ["S7-21", "a first offset below 0", () => valuesIn(array({}, chunk(i32(-1, 0, 0)))), corrupt()],
  ["S7-21", "offsets that go down", () => valuesIn(array({}, chunk(i32(0, 2, 1), "ab"))), corrupt()],
  ["S7-21", "an end beyond the data", () => valuesIn(array({}, chunk(i32(0, 1, 3), "ab"))), corrupt()],
  [
    "S7-21",
    "offsets that are one as doubles",
    () => valuesIn(array({ data_type: "LargeString" }, chunk(i64(0n, 2n ** 53n + 1n, 2n ** 53n)))),
    corrupt(),
  ],
  ...["ff", "c0af", "eda080", "c3"].map(
    (text): Row => [
      "S7-22",
      text,
      () => valuesIn(array({}, chunk(i32(0, text.length / 2, text.length / 2), hex(text)))),
      corrupt(),
    ],
  ),
  ["S7-22", "an offset inside a character", () => valuesIn(array({}, chunk(i32(0, 1, 2), "é"))), corrupt()],
  [
    "S7-24",
    "a good item before a bad one is not handed on",
    () => valuesIn(array({}, chunk(i32(0, 1, 2), hex("61ff")))),
    corrupt(),
  ],
  ["S7-23", "a slice", () => valuesIn(array({}, chunk(i32(1, 2, 3), "abc"))), ["b", "c"]],
  ["S7-23", "bytes behind", () => valuesIn(array({}, chunk(i32(0, 1, 2), "abc"))), ["a", "b"]],
  [
    "S7-23",
    "padding that is not zero",
    () => valuesIn(array({}, joined(i32(0, 1, 2), new Uint8Array(52).fill(7), hex("6162")))),
    ["a", "b"],
  ],
  ["S7-23", "no padding where there are no data", () => valuesIn(array({}, i32(0, 0, 0))), ["", ""]],
  [
    "S7-30",
    "`bytes` means nothing",
    () => valuesIn(array({ codecs: ["bytes"] }, chunk(i32(0, 1, 2), "ab"))),
    ["a", "b"],
  ],
  [
    "S7-30",
    "nor little-endian",
    () => valuesIn(array({ codecs: [LITTLE] }, chunk(i32(0, 1, 2), "ab"))),
    ["a", "b"],
  ],
  [
    "S7-31",
    "transpose moves items",
    () =>
      valuesIn(
        array(
          { shape: [2, 2], codecs: [{ name: "transpose", configuration: { order: [1, 0] } }] },
          chunk(i32(...upTo(4)), "abcd"),
        ),
      ),
    ["a", "c", "b", "d"],
  ],
  [
    "S7-33",
    "any length is right",
    () => valuesIn(array({}, chunk(i32(0, 0, 300), "x".repeat(300)))),
    ["", "x".repeat(300)],
  ],
  [
    "S7-40",
    "a vlen codec is the registered layout",
    () => codecsIn(array({ codecs: ["vlen-utf8"] })),
    [["vlen-utf8", {}]],
  ],
  ["S7-50", "a string", () => fillIn(array({ fill_value: "x" })), "x"],
  ["S7-50", "null is empty", () => fillIn(array({ fill_value: null })), ""],
  ["S7-50", "Base64", () => fillIn(array({ data_type: "binary", fill_value: "AQI=" })), hex("0102")],
  ["S7-50", "a list of bytes", () => fillIn(array({ data_type: "binary", fill_value: [1, 2] })), hex("0102")],
  ...[0, "\ud800", ["a"]].map(
    (fill_value): Row => [
      "S7-50",
      words(fill_value),
      () => nodeIn(array({ fill_value })),
      refused("invalid-metadata", "/fill_value"),
    ],
  ),
  [
    "S7-50",
    "no Base64",
    () => nodeIn(array({ data_type: "binary", fill_value: "AQI" })),
    refused("invalid-metadata", "/fill_value"),
  ],
  [
    "S7-50",
    "no byte",
    () => nodeIn(array({ data_type: "binary", fill_value: [1, 256] })),
    refused("invalid-metadata", "/fill_value/1"),
  ],
  ["S7-51", "a missing chunk", () => valuesIn(array({ fill_value: "né" })), ["né", "né"]],
];

const ZEP = { codecs: [{ name: "zep0007", configuration: { offset_size: 4 } }] };

const made = (values: readonly string[], members: object = ZEP): Promise<MemoryStore> =>
  given({ shape: [2], dataType: "string", ...members, values });

const chunkOf = async (...strings: string[]) => (await made(strings)).get("c/0");

/** What is written of an array whose metadata were read, when nothing of its document's words is kept. */
async function rewritten(members: Parameters<typeof array>[0]): Promise<Record<string, unknown>> {
  const { metadata } = await nodeIn(array(members));
  if (metadata.kind !== "array") throw new Error("no array");
  const { wording: _, fillValue, ...rest } = metadata;
  const documents = v3.write({ ...rest, fillValue: { bytes: fillValue.bytes } }, v3.layout(""));
  return JSON.parse(new TextDecoder().decode(documents.get("zarr.json")));
}

async function edited(members: Parameters<typeof array>[0]): Promise<Record<string, unknown>> {
  const store = await storeOf(array(members));
  await setAttributes(await open(store), { a: 1 });
  return jsonAt(store, "zarr.json");
}

/** What buffers hold at most when eight texts of `length` are rechunked from pieces of four. */
async function peakOf(length: number): Promise<number> {
  const store = await made(
    Array.from({ length: 8 }, () => "x".repeat(length)),
    { ...ZEP, shape: [8], chunks: [4] },
  );
  return (await rechunk(store, new MemoryStore(), { chunks: [2] })).peakBuffers;
}

const writing: Row[] = [
  ["S7-60", "buffers count decoded bytes", async () => (await peakOf(100_000)) >= 400_000, true],
  ["S7-60", "those of short texts are small", async () => (await peakOf(10)) < 100_000, true],
  [
    "S7-2",
    "capital forms, as objects",
    async () => (await rewritten({ data_type: "large_string" })).data_type,
    { name: "LargeString" },
  ],
  [
    "S7-2",
    "kept by an edit",
    async () => (await edited({ data_type: "large_string" })).data_type,
    "large_string",
  ],
  ["S7-13", "no data", () => chunkOf("", ""), undefined],
  ["S7-13", "zeros, then the data", () => chunkOf("ab", "c"), chunk(i32(0, 2, 3), "abc")],
  ["S7-14", "offsets count bytes", () => chunkOf("é", "\u{1f600}"), chunk(i32(0, 2, 6), "é\u{1f600}")],
  ["S7-15", "a lone surrogate", () => chunkOf("a", "\ud800"), refused("invalid-option", {})],
  [
    "S7-41",
    "the registered form by default",
    async () => jsonAt(await made(["a", "b"], {}), "zarr.json"),
    expect.objectContaining({ data_type: "string", codecs: [{ name: "vlen-utf8" }, expect.anything()] }),
  ],
  [
    "S7-41",
    "this one on request",
    async () => jsonAt(await made(["a", "b"]), "zarr.json"),
    expect.objectContaining({ data_type: { name: "string" }, codecs: [] }),
  ],
  ["S7-50", "null is written as empty", async () => (await rewritten({ fill_value: null })).fill_value, ""],
  [
    "S7-51",
    "is not written",
    async () => (await made(["x", "x"], { ...ZEP, fillValue: "x" })).get("c/0"),
    undefined,
  ],
];

const rows = [...types, ...lists, ...reading, ...writing];

describe("ZEP 7", () => {
  testRows(rows);
  testCoverage(SPEC_ITEMS["zep0007-strings"], {
    rows,
    untestable: {
      "S7-25": "offsets beyond 2^31 - 1 take a chunk of more than 2 GiB, which is refused as such before",
    },
  });
});
