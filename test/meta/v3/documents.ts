import type { ArrayMetadata } from "../../../src/meta/array-metadata.ts";
import { v3 } from "../../../src/meta/v3/v3.ts";
import { arrayWith, writeWith } from "../helpers.ts";

export const LITTLE = { name: "bytes", configuration: { endian: "little" } };

/** As zarr-python writes it, members in its order. */
export const ARRAY = {
  shape: [20, 30],
  data_type: "int32",
  chunk_grid: { name: "regular", configuration: { chunk_shape: [10, 15] } },
  chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
  fill_value: 42,
  codecs: [LITTLE, { name: "zstd", configuration: { level: 0, checksum: false } }],
  attributes: { units: "m" },
  dimension_names: ["y", null],
  zarr_format: 3,
  node_type: "array",
  storage_transformers: [],
};
export const GROUP = { attributes: { a: 1 }, zarr_format: 3, node_type: "group" };

export const read = (members: object = {}): ArrayMetadata =>
  arrayWith(v3, { "zarr.json": { ...ARRAY, ...members } });
export const written = (metadata: Parameters<typeof v3.write>[0], allowLoss: string[] = []) =>
  JSON.parse(writeWith(v3, metadata, { allowLoss })["zarr.json"] ?? "");
export const codecsOf = ({ codecs }: ArrayMetadata) =>
  codecs.map(({ name, configuration }) => ({ name, configuration }));
