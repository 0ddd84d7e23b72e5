import type { ZarrFormat } from "../../src/meta/array-metadata.ts";

/** The documents of one node, as texts by key. */
type Node = Readonly<Record<string, string>>;

const draft = "https://purl.org/zarr/spec/protocol/core/3.0";
const gzip = "http://purl.org/zarr/spec/codec/gzip";
const little = '{ "name": "bytes", "configuration": { "endian": "little" } }';

/** The array of a draft of v3, whose grid may say more. */
const draftArray = (codec: string, grid = "") => `{
  "shape": [20, 3], "data_type": ">f8", "chunk_memory_layout": "F", "fill_value": "NaN", "extensions": [],
  "chunk_grid": { "type": "regular", "chunk_shape": [7, 3]${grid} }, "attributes": { "units": "K" },
  "compressor": { "codec": "${codec}", "configuration": { "level": 1 } }
}`;

const nodes: Readonly<Record<ZarrFormat, readonly Node[]>> = {
  v1: [
    {
      meta: `{
  "zarr_format": 1, "shape": [10000, 10000], "chunks": [1000, 1000], "dtype": "<i4", "compression": "blosc",
  "compression_opts": { "cname": "lz4", "clevel": 5, "shuffle": 1 }, "fill_value": 42, "order": "C"
}`,
      attrs: '{ "units": "K" }',
    },
    {
      meta: `{
  "zarr_format": 1, "shape": [7], "chunks": [2], "dtype": [["a", "<f8"], ["b", "|S3"]], "compression": "zlib",
  "compression_opts": 1, "fill_value": null, "order": "F"
}`,
      attrs: "{}",
    },
  ],
  v2: [
    {
      ".zarray": `{
  "zarr_format": 2, "shape": [744, 33, 49], "chunks": [24, 33, 49], "dtype": "<f4", "order": "F",
  "compressor": { "id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0 },
  "filters": [
    { "id": "delta", "dtype": "<f4" },
    { "id": "fixedscaleoffset", "offset": 1.5, "scale": 100, "dtype": "<f4", "astype": "<i2" }
  ],
  "fill_value": "NaN", "dimension_separator": "/"
}`,
      ".zattrs": '{ "_ARRAY_DIMENSIONS": ["time", "lat", "lon"], "scale": 1e-3, "tags": [1, [2]] }',
    },
    {
      ".zarray": `{
  "zarr_format": 2, "shape": [5], "chunks": [5], "order": "C", "compressor": null, "filters": null,
  "dtype": [["x", ">i8"], ["y", "<M8[25us]"], ["z", "|V2", [2, 3]]], "fill_value": null
}`,
    },
    {
      ".zarray": `{
  "zarr_format": 2, "shape": [], "chunks": [], "dtype": "|O", "order": "C", "fill_value": "",
  "compressor": { "id": "zstd", "level": 3 }, "filters": [{ "id": "vlen-utf8" }]
}`,
    },
    {
      ".zgroup": '{ "zarr_format": 2 }',
      ".zattrs": '{ "title": "wörter", "nested": { "deep": [null, true, -0.5e300] } }',
    },
  ],
  "v3-draft-2019": [
    {
      "zarr.json": `{ "zarr_format": "${draft}", "metadata_encoding": "application/json", "extensions": [] }`,
      "meta/root.array": draftArray(gzip),
    },
    { "meta/root.group": '{ "extensions": [], "attributes": { "heart": ["gold", null] } }' },
  ],
  "v3-draft-2020": [
    {
      "zarr.json": `{
  "zarr_format": "${draft}", "metadata_encoding": "${draft}", "metadata_key_suffix": ".json", "extensions": []
}`,
      "meta/root.array.json": draftArray(`${gzip}/1.0`, ', "separator": "/"'),
    },
    { "meta/root.group.json": '{ "extensions": [], "attributes": { "heart": ["gold", null] } }' },
  ],
  v3: [
    `{
  "zarr_format": 3, "node_type": "array", "shape": [100, 200], "data_type": "float64",
  "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [10, 20] } },
  "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
  "codecs": [
    { "name": "transpose", "configuration": { "order": [1, 0] } },
    { "name": "bytes", "configuration": { "endian": "big" } },
    { "name": "numcodecs.shuffle", "configuration": { "elementsize": 8 } },
    { "name": "zstd", "configuration": { "level": 5, "checksum": true } }, "crc32c"
  ],
  "fill_value": "0x7ff8000000000001", "attributes": { "units": "m", "valid": [0, 1.5] },
  "dimension_names": ["x", null], "storage_transformers": []
}`,
    `{
  "zarr_format": 3, "node_type": "array", "shape": [64, 64], "data_type": "uint16",
  "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [32, 32] } },
  "chunk_key_encoding": { "name": "v2", "configuration": { "separator": "." } }, "fill_value": 7,
  "codecs": [{ "name": "sharding_indexed", "configuration": {
    "chunk_shape": [8, 16], "index_location": "end", "index_codecs": [${little}, { "name": "crc32c" }],
    "codecs": [${little}, { "name": "blosc", "configuration": {
      "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0
    } }]
  } }]
}`,
    `{
  "zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "string", "fill_value": "none",
  "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [3] } },
  "chunk_key_encoding": { "name": "default" },
  "codecs": [{ "name": "vlen-utf8" }, { "name": "gzip", "configuration": { "level": 1 } }]
}`,
    '{ "zarr_format": 3, "node_type": "group", "attributes": { "a": { "b": ["c", 1e300] } } }',
  ].map((text) => ({ "zarr.json": text })),
};

export const DIALECTS = Object.keys(nodes) as readonly ZarrFormat[];

/** Nodes of a format. */
export function documentsOf(name: ZarrFormat): readonly Node[] {
  const compact = (node: Node) =>
    Object.entries(node).map(([key, text]) => [key, JSON.stringify(JSON.parse(text))] as const);
  return nodes[name].map((node) => Object.fromEntries(compact(node)));
}

/** JSON of many kinds: that of all nodes, and what trips parsers. */
export function texts(): readonly string[] {
  const documents = Object.values(nodes).flatMap((list) => list.flatMap((node) => Object.values(node)));
  return [
    ...documents.map((text) => JSON.stringify(JSON.parse(text), null, 2)),
    '\ufeff{"a": NaN, "b": [-Infinity, Infinity], "__proto__": {"x": 1}, "a": 18446744073709551615}',
    '["\\u00e9\\ud83d\\ude00\\n\\/", 1.0, -0.0, 1e-7, 1E+22, 9007199254740993, "é日😀", "\\ud800"]',
    `${"[".repeat(60)}null${"]".repeat(60)}`,
    ' \t\r\n{"":{"":{"":[]}}} ',
  ];
}
