import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { crc32c } from "../../codecs/kernels/plain-kernels.ts";
import { type Row, refused, row } from "../rows.ts";
import { codecsIn, hex, joined, nodeIn, opens, sortedKeys, valuesIn, words } from "../stores.ts";
import { array, BIG, bytes, chunkShape, corrupt, GZIP, invalid, LITTLE, made, sharding } from "./kit.ts";

const AT = "/codecs/0/configuration";
const transpose = (order?: unknown) => ({ name: "transpose", configuration: { order } });
const named = (name: string, configuration: object = {}) => ["bytes", { name, configuration }];
const blosc = (members: object) =>
  named("blosc", { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 1, ...members });
const unknown = (pointer: string) => refused("unsupported-codec", { pointer, key: "zarr.json" });

const lists = (
  [
    ["V3-40", [], invalid("/codecs")],
    ["V3-40", "bytes", invalid("/codecs")],
    ["V3-40", [GZIP], invalid("/codecs")],
    ["V3-40", ["bytes", "bytes"], invalid("/codecs")],
    ["V3-40", [GZIP, "bytes"], invalid("/codecs")],
    ["V3-40", ["bytes", transpose([0])], invalid("/codecs")],
    ["V3-40", ["bytes", sharding()], invalid("/codecs")],
    ["V3-40", ["bytes", 3], invalid("/codecs/1")],
    ["V3-40", ["bytes", {}], invalid("/codecs/1/name")],
    ["V3-41", [{ name: "bytes", configuration: { endian: "native" } }], invalid(`${AT}/endian`)],
    ["V3-41", [BIG], "array"],
    ["V3-41", [{ ...BIG, name: "endian" }], "array"],
    ...[[0, 1], [1], [0, 0], undefined, "K"].map((order) => [
      "V3-42",
      [transpose(order), "bytes"],
      invalid(`${AT}/order`),
    ]),
    ["V3-42", [transpose("F"), "bytes"], "array"],
    ...[10, -1, 1.5, "1"].map((level) => ["V3-43", named("gzip", { level }), "array"]),
    ["V3-43", named("gzip"), "array"],
    ...[23, -131073].map((level) => ["V3-43", named("zstd", { level }), "array"]),
    ["V3-43", named("zstd", { level: -131072 }), "array"],
    ["V3-43", named("zstd"), "array"],
    ["V3-43", named("zstd", { level: 1, checksum: 1 }), "array"],
    ["V3-44", blosc({ cname: "lz5" }), "array"],
    ["V3-44", blosc({ clevel: 10 }), "array"],
    ["V3-44", blosc({ shuffle: "auto" }), "array"],
    ["V3-44", blosc({ shuffle: 1 }), "array"],
    ["V3-44", blosc({ typesize: undefined }), "array"],
    ["V3-44", blosc({ typesize: 0 }), "array"],
    ["V3-44", blosc({ blocksize: -1 }), "array"],
    ["V3-44", blosc({ shuffle: "noshuffle", typesize: undefined }), "array"],
    ["V3-46", ["nosuch"], unknown("/codecs/0")],
    ["V3-46", ["bytes", "numcodecs.nosuch"], unknown("/codecs/1")],
    ["V3-46", ["bytes", "__proto__"], unknown("/codecs/1")],
    ["V3-48", ["bytes", "zfp"], unknown("/codecs/1")],
    ["V3-50", [sharding()], "array"],
    ["V3-50", [sharding({ codecs: [sharding({ chunk_shape: [1] })] })], "array"],
    ["V3-50", [sharding({ chunk_shape: undefined })], invalid(`${AT}/chunk_shape`)],
    ["V3-50", [sharding({ chunk_shape: [3] })], invalid(`${AT}/chunk_shape`)],
    ["V3-50", [sharding({ chunk_shape: [1, 2] })], invalid(`${AT}/chunk_shape`)],
    ["V3-50", [sharding({ chunk_shape: [0] })], invalid(`${AT}/chunk_shape/0`)],
    ["V3-50", [sharding({ codecs: undefined })], invalid(`${AT}/codecs`)],
    ["V3-50", [sharding({ codecs: [] })], invalid(`${AT}/codecs`)],
    ["V3-50", [sharding({ codecs: [GZIP] })], invalid(`${AT}/codecs`)],
    ["V3-50", [sharding({ codecs: ["bytes", "nosuch"] })], unknown(`${AT}/codecs/1`)],
    ["V3-50", [sharding({ codecs: named("gzip", { level: 99 }) })], "array"],
    ["V3-50", [sharding({ codecs: named("zstd", { level: 99 }) })], "array"],
    ["V3-50", [sharding({ index_codecs: undefined })], invalid(`${AT}/index_codecs`)],
    ["V3-50", [sharding({ index_codecs: [] })], invalid(`${AT}/index_codecs`)],
    ["V3-50", [sharding({ index_codecs: ["bytes"] })], invalid(`${AT}/index_codecs/0/configuration/endian`)],
    ["V3-50", [sharding({ index_codecs: [LITTLE, GZIP] })], invalid(`${AT}/index_codecs/1`)],
    ["V3-50", [sharding({ index_location: "middle" })], invalid(`${AT}/index_location`)],
    ["V3-50", [sharding({ index_location: null })], invalid(`${AT}/index_location`)],
    ["V3-56", [sharding(), GZIP], "array"],
  ] as [string, unknown, unknown][]
).map(([id, codecs, expected]) => row(id, words(codecs), expected, () => opens(bytes(4, { codecs }))));

const ofGzip = { codecs: ["bytes", GZIP] };
const ofCrc = { codecs: ["bytes", "crc32c"] };

const BITROUND = { name: "bitround", configuration: { keepbits: 3 } };

const values: Row[] = [
  row("V3-41", "no order where one is needed", invalid(`${AT}/endian`), () =>
    nodeIn(bytes(1, { data_type: "int16" })),
  ),
  row("V3-41", "big-endian", [1, 512], bytes(2, { data_type: "uint16", codecs: [BIG] }, "00010200")),
  row("V3-41", "each half of a complex number", [1, -2], () =>
    valuesIn(bytes(1, { data_type: "complex64", fill_value: [0, 0], codecs: [BIG] }, "3f800000 c0000000")),
  ),
  row("V3-41", "booleans", [0, 1], bytes(2, { data_type: "bool", fill_value: false }, "0001")),
  ...["010203", "0102030405", ""].map((text) =>
    row(
      "V3-41",
      text,
      corrupt({ coords: [0], codec: "bytes", expected: 4, found: text.length / 2 }),
      bytes(4, {}, text),
    ),
  ),
  row("V3-42", "[2, 0, 1] is undone", [0, 2, 4, 1, 3, 5], () =>
    valuesIn(
      array(
        {
          shape: [2, 1, 3],
          data_type: "uint8",
          ...chunkShape(2, 1, 3),
          codecs: [transpose([2, 0, 1]), "bytes"],
        },
        { "c/0/0/0": hex("000102030405") },
      ),
    ),
  ),
  row("V3-43", "gzip in members", [1, 2], bytes(2, ofGzip, joined(gzipSync(hex("01")), gzipSync(hex("02"))))),
  row("V3-43", "gzip cut", corrupt({ coords: [0], codec: "gzip" }), () =>
    valuesIn(bytes(4, ofGzip, gzipSync(hex("01020304")).subarray(0, 15))),
  ),
  row("V3-43", "gzip with another checksum", corrupt({ codec: "gzip" }), () =>
    valuesIn(bytes(4, ofGzip, joined(gzipSync(hex("01020304")).subarray(0, -8), hex("0000000004000000")))),
  ),
  row("V3-43", "gzip of more", corrupt({ codec: "gzip", expected: 4 }), () =>
    valuesIn(bytes(4, ofGzip, gzipSync(hex("0102030405")))),
  ),
  row("V3-43", "gzip of less", corrupt({ codec: "gzip", expected: 4, found: 3 }), () =>
    valuesIn(bytes(4, ofGzip, gzipSync(hex("010203")))),
  ),
  row("V3-45", "the digits' checksum", [49, 50, 51, 52, 53, 54, 55, 56, 57], () =>
    valuesIn(bytes(9, ofCrc, joined(new TextEncoder().encode("123456789"), hex("839206e3")))),
  ),
  row("V3-45", "another checksum", corrupt({ coords: [0], codec: "crc32c" }), () =>
    valuesIn(bytes(4, ofCrc, "0102030400000000")),
  ),
  row("V3-45", "fewer than 4 bytes", corrupt({ codec: "crc32c" }), bytes(4, ofCrc, "010203")),
  row("V3-47", "names of numcodecs", expect.arrayContaining([["zlib", { level: 3 }]]), () =>
    codecsIn(bytes(4, { codecs: named("numcodecs.zlib", { level: 3 }) })),
  ),
  row("V3-48", "bitround", expect.arrayContaining([["bitround", { keepbits: 3 }]]), () =>
    codecsIn(bytes(4, { data_type: "float32", codecs: [BITROUND, LITTLE] })),
  ),
];

const NONE = 2n ** 64n - 1n;

/** An index of offsets and lengths, with its checksum. */
function index(...entries: readonly (number | bigint)[]): Uint8Array {
  const words64 = new Uint8Array(BigUint64Array.from(entries.map(BigInt)).buffer);
  return joined(words64, new Uint8Array(Uint32Array.of(crc32c(words64)).buffer));
}

const ofShard = (shard: Uint8Array, members: object = {}, behind: unknown[] = []) =>
  valuesIn(bytes(4, { codecs: [sharding(members), ...behind], fill_value: 9 }, shard));
const shardOf = (data: string, ...entries: readonly (number | bigint)[]) =>
  joined(hex(data), index(...entries));
const turned = (chunk_shape: number[]) =>
  array({ codecs: [transpose([1, 0]), sharding({ chunk_shape, codecs: [LITTLE] })] });
const keysMade = async (items: string) =>
  sortedKeys(await made("", { shape: [8], chunks: [2], shards: [4] }, { items: hex(items) }));

const shards: Row[] = [
  row("V3-51", "empty inner chunks", [1, 2, 9, 9], () => ofShard(shardOf("0102", 0, 2, NONE, NONE))),
  row("V3-51", "half empty: no offset", corrupt({}), () => ofShard(shardOf("0102", 0, 2, NONE, 2))),
  row("V3-51", "half empty: no length", corrupt({}), () => ofShard(shardOf("0102", 0, 2, 2, NONE))),
  row("V3-51", "another checksum", corrupt({}), () =>
    ofShard(joined(hex("0102"), index(0, 2, NONE, NONE).fill(0, 32))),
  ),
  row("V3-51", "an inner chunk of another length", corrupt({}), () =>
    ofShard(shardOf("010203", 0, 3, NONE, NONE)),
  ),
  row("V3-52", "an index of 36 bytes", corrupt({ expected: 36, found: 2 }), () => ofShard(hex("0102"))),
  row("V3-52", "an index in front", [1, 2, 3, 4], () =>
    ofShard(joined(index(36, 2, 38, 2), hex("01020304")), { index_location: "start" }),
  ),
  row("V3-54", "any order, gaps, a range twice", [1, 2, 1, 2], () =>
    ofShard(shardOf("ff0102ff", 1, 2, 1, 2)),
  ),
  row("V3-54", "into the index", [1, 2, 0, 0], () => ofShard(shardOf("0102", 0, 2, 2, 2))),
  row("V3-54", "beyond the value", corrupt({}), () => ofShard(shardOf("0102", 0, 2, 37, 2))),
  row("V3-57", "near 2^64", corrupt({}), () => ofShard(shardOf("0102", 0, 2, NONE - 1n, 2))),
  row("V3-57", "at 2^53", corrupt({}), () => ofShard(shardOf("0102", 0, 2, 2n ** 53n, 2))),
  row("V3-55", "empty shards are not stored", ["c/1", "zarr.json"], () => keysMade("00000000 00000001")),
  row("V3-55", "empty inner chunks neither", shardOf("0102", NONE, NONE, 0, 2), async () =>
    (await made("", { shape: [4], chunks: [2], shards: [4] }, { items: hex("00000102") })).get("c/0"),
  ),
  row("V3-56", "codecs behind", [1, 2, 9, 9], () =>
    ofShard(gzipSync(shardOf("0102", 0, 2, NONE, NONE)), {}, [GZIP]),
  ),
  row("V3-58", "dimensions are those behind the transpose", "array", () => opens(turned([3, 1]))),
  row("V3-58", "which must be divided", invalid("/codecs/1/configuration/chunk_shape"), () =>
    nodeIn(turned([2, 1])),
  ),
];

export const codecRows: readonly Row[] = [...lists, ...values, ...shards];
