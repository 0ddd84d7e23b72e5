import { open, setAttributes } from "../../../src/index.ts";
import { type Row, refused } from "../rows.ts";
import {
  chunkKeyIn,
  findingsIn,
  hex,
  jsonAt,
  nodeIn,
  opens,
  storeOf,
  token,
  valuesIn,
  words,
} from "../stores.ts";
import { ARRAY, array, bytes, chunkShape, group, invalid, LITTLE, made } from "./kit.ts";

const grid = (members: object, configuration: object = {}) => ({
  chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 3], ...configuration }, ...members },
});
const keyed = (name: string, separator?: unknown) => ({
  chunk_key_encoding: { name, ...(separator !== undefined && { configuration: { separator } }) },
});
const extended = (...path: string[]) => refused("unsupported-extension", `/${path.join("/")}`);
const ignorable = { must_understand: false };

const arrays = (
  [
    ...Object.keys(ARRAY).map((name) => ["V3-10", { [name]: undefined }, invalid(`/${name}`)]),
    ["V3-10", { zarr_format: "3" }, invalid("/zarr_format")],
    ["V3-10", { zarr_format: 4 }, refused("unsupported-format", { pointer: "/zarr_format", value: "4" })],
    ["V3-12", { more: 1 }, extended("more")],
    ["V3-12", { more: { must_understand: true } }, extended("more")],
    ["V3-12", { more: {} }, extended("more")],
    ["V3-12", { more: ignorable }, "array"],
    [
      "V3-13",
      { data_type: { name: "nosuch", ...ignorable } },
      refused("unsupported-data-type", "/data_type"),
    ],
    ["V3-13", { data_type: { name: "int32", ...ignorable } }, "array"],
    ["V3-13", { data_type: "Int32" }, refused("unsupported-data-type", "/data_type")],
    ["V3-13", { data_type: { name: "int32", configuration: {} } }, "array"],
    ["V3-13", { data_type: {} }, invalid("/data_type/name")],
    ["V3-13", { data_type: { name: "int32", configuration: null } }, invalid("/data_type/configuration")],
    ["V3-13", { data_type: { name: "int32", must_understand: "no" } }, invalid("/data_type/must_understand")],
    ["V3-13", { data_type: { name: "int32", must_understand: null } }, invalid("/data_type/must_understand")],
    [
      "V3-13",
      { data_type: { name: "int32", configuration: { a: 1 } } },
      extended("data_type", "configuration", "a"),
    ],
    ["V3-13", { chunk_grid: { name: "nosuch", ...ignorable } }, extended("chunk_grid")],
    ["V3-13", grid({}, { a: 1 }), extended("chunk_grid", "configuration", "a")],
    ["V3-13", grid({ a: 1 }), extended("chunk_grid", "a")],
    ["V3-13", grid({}, { a: ignorable }), "array"],
    ["V3-13", { chunk_key_encoding: { name: "nosuch", ...ignorable } }, extended("chunk_key_encoding")],
    [
      "V3-13",
      { chunk_key_encoding: { name: "default", configuration: { a: 1 } } },
      extended("chunk_key_encoding", "configuration", "a"),
    ],
    ["V3-15", { storage_transformers: ["cache"] }, extended("storage_transformers", "0")],
    ["V3-15", { storage_transformers: [{ name: "cache", ...ignorable }] }, "array"],
    ["V3-15", { storage_transformers: {} }, invalid("/storage_transformers")],
    ["V3-15", { storage_transformers: null }, invalid("/storage_transformers")],
    ["V3-16", { dimension_names: ["x"] }, invalid("/dimension_names")],
    ["V3-16", { dimension_names: ["x", 1] }, invalid("/dimension_names/1")],
    ["V3-16", { dimension_names: null }, "array"],
    ["V3-16", { dimension_names: ["", ""] }, "array"],
    ["V3-17", { attributes: [] }, invalid("/attributes")],
    ["V3-17", { attributes: null }, invalid("/attributes")],
    ["V3-18", { shape: [4, -6] }, invalid("/shape/1")],
    ["V3-18", { shape: [4, 6.5] }, invalid("/shape/1")],
    ["V3-18", { shape: [4, token("6.0")] }, invalid("/shape/1")],
    ["V3-18", { node_type: "dataset" }, invalid("/node_type")],
    ["V3-18", { shape: [], ...chunkShape() }, "array"],
    ["V3-30", chunkShape(2), invalid("/chunk_grid/configuration/chunk_shape")],
    ["V3-30", chunkShape(2, 0), invalid("/chunk_grid/configuration/chunk_shape/1")],
    ["V3-30", { shape: [4, 0], ...chunkShape(2, 0) }, "array"],
    ["V3-30", { chunk_grid: "regular" }, invalid("/chunk_grid/configuration/chunk_shape")],
    ["V3-30", { chunk_grid: { name: "rectilinear" } }, extended("chunk_grid")],
    ["V3-31", keyed("default", "-"), invalid("/chunk_key_encoding/configuration/separator")],
    ["V3-31", keyed("default", null), invalid("/chunk_key_encoding/configuration/separator")],
    ["V3-31", keyed("fanout"), extended("chunk_key_encoding")],
  ] as [string, object, unknown][]
).map(([id, members, expected]): Row => [id, words(members), () => opens(array(members)), expected]);

const groups = (
  [
    ["V3-11", {}, "group"],
    ["V3-11", { zarr_format: undefined }, invalid("/zarr_format")],
    ["V3-11", { consolidated_metadata: null }, "group"],
    ["V3-12", { more: {} }, extended("more")],
    ["V3-12", { more: ignorable }, "group"],
    ["V3-17", { attributes: 3 }, invalid("/attributes")],
    ["V3-19", { consolidated_metadata: { kind: "external", ...ignorable } }, "group"],
  ] as [string, object, unknown][]
).map(
  ([id, members, expected]): Row => [
    id,
    `a group with ${words(members)}`,
    () => opens(group(members)),
    expected,
  ],
);

const keys = (
  [
    ["default", undefined, "c/1/23"],
    ["default", ".", "c.1.23"],
    ["v2", undefined, "1.23"],
    ["v2", "/", "1/23"],
  ] as const
).map(
  ([name, separator, key]): Row => [
    "V3-31",
    key,
    () => chunkKeyIn(array(keyed(name, separator)), 1, 23),
    key,
  ],
);

const SKIPPED = { codecs: ["bytes", { name: "nosuch", ...ignorable }] };
const scalar = (name: string) => array({ shape: [], ...chunkShape(), ...keyed(name) });
const unreadable = refused("unsupported-codec", {
  pointer: "/codecs/1",
  codec: "nosuch",
  key: "c/0",
  coords: [0],
});

async function edited(members: object): Promise<Record<string, unknown>> {
  const store = await storeOf(array(members));
  await setAttributes(await open(store), { a: 1 });
  return jsonAt(store, "zarr.json");
}

const documents: Row[] = [
  [
    "V3-13",
    "an unknown member of a codec is a finding",
    () => findingsIn(array({ codecs: [{ ...LITTLE, note: 1 }] })),
    ["/codecs/0"],
  ],
  [
    "V3-13",
    "and kept",
    async () => (await edited({ codecs: [{ ...LITTLE, note: 1 }] })).codecs,
    [{ ...LITTLE, note: 1 }],
  ],
  [
    "V3-13",
    "a codec is skipped where all chunks are missing",
    () => valuesIn(bytes(2, { ...SKIPPED, fill_value: 7 })),
    [7, 7],
  ],
  ["V3-13", "and nowhere else", () => valuesIn(bytes(2, SKIPPED, hex("0102"))), unreadable],
  [
    "V3-14",
    "types as strings, the rest as objects",
    async () => {
      const { data_type, codecs } = await jsonAt(await made(""), "zarr.json");
      return { data_type, codecs };
    },
    { data_type: "uint8", codecs: [{ name: "bytes" }] },
  ],
  [
    "V3-15",
    "transformers that may be ignored are findings",
    () => findingsIn(array({ storage_transformers: [{ name: "cache", ...ignorable }] })),
    ["/storage_transformers/0"],
  ],
  [
    "V3-15",
    "but nothing is written",
    () => edited({ storage_transformers: [{ name: "cache", ...ignorable }] }),
    refused("unsupported-operation", "/storage_transformers"),
  ],
  [
    "V3-19",
    "another kind is a finding",
    () => findingsIn(group({ consolidated_metadata: { kind: "external", ...ignorable } })),
    ["/consolidated_metadata/kind"],
  ],
  ["V3-31", "a scalar", () => chunkKeyIn(scalar("default")), "c"],
  ["V3-31", "a scalar of v2", () => chunkKeyIn(scalar("v2")), "0"],
  ["V3-17", "attributes may be absent", async () => (await nodeIn(array())).attributes, {}],
];

export const documentRows: readonly Row[] = [...arrays, ...groups, ...keys, ...documents];
