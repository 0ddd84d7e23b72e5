import { describe, expect } from "vitest";
import { open, rechunk, setAttributes } from "../../src/index.ts";
import { v3 } from "../../src/meta/v3/v3.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { given } from "../support/given.ts";
import { type Row, refused, row, SPEC_ITEMS, testItems } from "./rows.ts";
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
  return row(id, words(data_type), expected, act);
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
  return row(id, `${data_type} by ${words(codecs)}`, expected, () => opens(array(members)));
});

const reading: Row[] = [
  row("S7-3", "any bytes", [hex("ff"), hex("80fe")], () =>
    valuesIn(array({ data_type: "binary" }, chunk(i32(0, 1, 3), hex("ff80fe")))),
  ),
  row("S7-4", "strings are strings", ["a", "é"], array({}, chunk(i32(0, 1, 3), "aé"))),
  row("S7-10", "the worked example", ["the", "quick", "brown", "fox"], () =>
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
  ),
  row("S7-11", "15 items of 4 bytes need no padding", "abcdefghijklmno", async () =>
    (
      await valuesIn(
        array({ shape: [15] }, joined(i32(...upTo(15)), new TextEncoder().encode("abcdefghijklmno"))),
      )
    ).join(""),
  ),
  row("S7-11", "nor do 7 of 8", "abcdefg", async () =>
    (
      await valuesIn(
        array(
          { shape: [7], data_type: "LargeString" },
          joined(i64(...upTo(7).map(BigInt)), new TextEncoder().encode("abcdefg")),
        ),
      )
    ).join(""),
  ),
  row("S7-12", "C order", ["a", "b", "c", "d"], array({ shape: [2, 2] }, chunk(i32(...upTo(4)), "abcd"))),
  row("S7-16", "a byte order mark is text", ["\ufeff", ""], array({}, chunk(i32(0, 3, 3), hex("efbbbf")))),
  row("S7-20", "nothing", corrupt({ found: 0 }), array({}, hex(""))),
  row("S7-20", "a byte too few", corrupt({ found: 11 }), array({}, i32(0, 0, 0).subarray(1))),
  row("S7-21", "a first offset below 0", corrupt(), array({}, chunk(i32(-1, 0, 0)))),
  row("S7-21", "offsets that go down", corrupt(), array({}, chunk(i32(0, 2, 1), "ab"))),
  row("S7-21", "an end beyond the data", corrupt(), array({}, chunk(i32(0, 1, 3), "ab"))),
  row("S7-21", "offsets that are one as doubles", corrupt(), () =>
    valuesIn(array({ data_type: "LargeString" }, chunk(i64(0n, 2n ** 53n + 1n, 2n ** 53n)))),
  ),
  ...["ff", "c0af", "eda080", "c3"].map((text) =>
    row("S7-22", text, corrupt(), array({}, chunk(i32(0, text.length / 2, text.length / 2), hex(text)))),
  ),
  row("S7-22", "an offset inside a character", corrupt(), array({}, chunk(i32(0, 1, 2), "é"))),
  row("S7-24", "a good item before a bad one is not handed on", corrupt(), () =>
    valuesIn(array({}, chunk(i32(0, 1, 2), hex("61ff")))),
  ),
  row("S7-23", "a slice", ["b", "c"], array({}, chunk(i32(1, 2, 3), "abc"))),
  row("S7-23", "bytes behind", ["a", "b"], array({}, chunk(i32(0, 1, 2), "abc"))),
  row("S7-23", "padding that is not zero", ["a", "b"], () =>
    valuesIn(array({}, joined(i32(0, 1, 2), new Uint8Array(52).fill(7), hex("6162")))),
  ),
  row("S7-23", "no padding where there are no data", ["", ""], array({}, i32(0, 0, 0))),
  row("S7-30", "`bytes` means nothing", ["a", "b"], array({ codecs: ["bytes"] }, chunk(i32(0, 1, 2), "ab"))),
  row("S7-30", "nor little-endian", ["a", "b"], array({ codecs: [LITTLE] }, chunk(i32(0, 1, 2), "ab"))),
  row("S7-31", "transpose moves items", ["a", "c", "b", "d"], () =>
    valuesIn(
      array(
        { shape: [2, 2], codecs: [{ name: "transpose", configuration: { order: [1, 0] } }] },
        chunk(i32(...upTo(4)), "abcd"),
      ),
    ),
  ),
  row("S7-33", "any length is right", ["", "x".repeat(300)], () =>
    valuesIn(array({}, chunk(i32(0, 0, 300), "x".repeat(300)))),
  ),
  row("S7-40", "a vlen codec is the registered layout", [["vlen-utf8", {}]], () =>
    codecsIn(array({ codecs: ["vlen-utf8"] })),
  ),
  row("S7-50", "a string", "x", () => fillIn(array({ fill_value: "x" }))),
  row("S7-50", "null is empty", "", () => fillIn(array({ fill_value: null }))),
  row("S7-50", "Base64", hex("0102"), () => fillIn(array({ data_type: "binary", fill_value: "AQI=" }))),
  row("S7-50", "a list of bytes", hex("0102"), () =>
    fillIn(array({ data_type: "binary", fill_value: [1, 2] })),
  ),
  ...[0, "\ud800", ["a"]].map((fill_value) =>
    row("S7-50", words(fill_value), refused("invalid-metadata", "/fill_value"), () =>
      nodeIn(array({ fill_value })),
    ),
  ),
  row("S7-50", "no Base64", refused("invalid-metadata", "/fill_value"), () =>
    nodeIn(array({ data_type: "binary", fill_value: "AQI" })),
  ),
  row("S7-50", "no byte", refused("invalid-metadata", "/fill_value/1"), () =>
    nodeIn(array({ data_type: "binary", fill_value: [1, 256] })),
  ),
  row("S7-51", "a missing chunk", ["né", "né"], array({ fill_value: "né" })),
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

const VLEN = [{ name: "vlen-utf8" }, expect.anything()];
const partly = (members: object) => expect.objectContaining(members);

const writing: Row[] = [
  row("S7-60", "buffers count decoded bytes", true, async () => (await peakOf(100_000)) >= 400_000),
  row("S7-60", "those of short texts are small", true, async () => (await peakOf(10)) < 100_000),
  row("S7-2", "capital forms, as objects", partly({ data_type: { name: "LargeString" } }), () =>
    rewritten({ data_type: "large_string" }),
  ),
  row("S7-2", "kept by an edit", partly({ data_type: "large_string" }), () =>
    edited({ data_type: "large_string" }),
  ),
  row("S7-13", "no data", undefined, () => chunkOf("", "")),
  row("S7-13", "zeros, then the data", chunk(i32(0, 2, 3), "abc"), () => chunkOf("ab", "c")),
  row("S7-14", "offsets count bytes", chunk(i32(0, 2, 6), "é\u{1f600}"), () => chunkOf("é", "\u{1f600}")),
  row("S7-15", "a lone surrogate", refused("invalid-option", {}), () => chunkOf("a", "\ud800")),
  row("S7-41", "the registered form by default", partly({ data_type: "string", codecs: VLEN }), async () =>
    jsonAt(await made(["a", "b"], {}), "zarr.json"),
  ),
  row("S7-41", "this one on request", partly({ data_type: { name: "string" }, codecs: [] }), async () =>
    jsonAt(await made(["a", "b"]), "zarr.json"),
  ),
  row("S7-50", "null is written as empty", partly({ fill_value: "" }), () => rewritten({ fill_value: null })),
  row("S7-51", "is not written", undefined, async () =>
    (await made(["x", "x"], { ...ZEP, fillValue: "x" })).get("c/0"),
  ),
];

const rows = [...types, ...lists, ...reading, ...writing];

describe("ZEP 7", () => {
  testItems(SPEC_ITEMS["zep0007-strings"], rows, {
    "S7-25": "offsets beyond 2^31 - 1 take a chunk of more than 2 GiB, which is refused as such before",
  });
});
