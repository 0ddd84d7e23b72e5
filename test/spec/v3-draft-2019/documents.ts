import { open, setAttributes } from "../../../src/index.ts";
import { type Row, refused } from "../rows.ts";
import { findingsIn, jsonAt, nodeIn, opens, storeOf, textAt, typeIn, words } from "../stores.ts";
import { ARRAY, array, BOOTSTRAP, GZIP, hierarchy, invalid, made, URI } from "./kit.ts";

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
).map(([id, members, expected]): Row => [id, words(members), () => opens(hierarchy({}, members)), expected]);

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
).map(([id, members, expected]): Row => [id, words(members), () => opens(array(members)), expected]);

const root = (document: unknown) => () => opens(hierarchy({ "meta/root.group": document }));
const isNone = (pointer?: string) =>
  refused("invalid-metadata", { key: "meta/root.group", ...(pointer && { pointer }) });

const SPACED = { "zarr.json": JSON.stringify({ ...BOOTSTRAP, more: 1 }, null, 7) };

const documents: Row[] = [
  ["D19-20", "no bootstrap document", () => nodeIn({ "meta/root.array": ARRAY }), refused("not-found")],
  [
    "D19-20",
    "no JSON",
    () => nodeIn({ "zarr.json": "{" }),
    refused("invalid-metadata", { key: "zarr.json" }),
  ],
  [
    "D19-23",
    "extensions are judged before arrays",
    () => opens(hierarchy({ "meta/root.array": "{" }, understood(true))),
    refused("unsupported-extension", { pointer: "/extensions/0", key: "zarr.json" }),
  ],
  [
    "D19-25",
    "a bootstrap document stays",
    async () => textAt(await made("a", {}, { content: SPACED }), "zarr.json"),
    SPACED["zarr.json"],
  ],
  [
    "D19-25",
    "and is made first",
    async () => jsonAt(await made("a", {}, { content: {} }), "zarr.json"),
    BOOTSTRAP,
  ],
  [
    "D19-30",
    "absent lists and attributes",
    () => findingsIn(array({ extensions: undefined, attributes: undefined })),
    ["/extensions", "/attributes"],
  ],
  [
    "D19-30",
    "what is written",
    async () => Object.keys(await jsonAt(await made("a"), "meta/root/a.array")),
    Object.keys(ARRAY),
  ],
  ["D19-31", "other names are never written", async () => "more" in (await edited({ more: 1 })), false],
  [
    "D19-42",
    "a fallback is said",
    () => findingsIn(array({ data_type: { extension: URI, type: "x", fallback: "<i4" } })),
    ["/data_type"],
  ],
  [
    "D19-43",
    "times are integers",
    () => typeIn(array({ data_type: { extension: DATETIME, type: "<M8[ns]", fallback: "<i8" } })),
    { kind: "int", size: 8 },
  ],
  ["D19-33", "attributes of a group", root({ extensions: [], attributes: 1 }), isNone("/attributes")],
  [
    "D19-67",
    "extensions of a group",
    root(understood(true)),
    refused("unsupported-extension", { pointer: "/extensions/0", key: "meta/root.group" }),
  ],
  ["D19-70", "a trailing comma", root('{"extensions": [], "attributes": {},}'), isNone()],
  ["D19-70", "nothing in it", root({}), "group"],
];

async function edited(members: object): Promise<Record<string, unknown>> {
  const store = await storeOf(array(members));
  await setAttributes(await open(store), { a: 1 });
  return jsonAt(store, "meta/root.array");
}

export const documentRows: readonly Row[] = [...bootstrap, ...arrays, ...documents];
