import { v2Format } from "../../../src/meta/v2/v2.ts";

export const v2 = v2Format();

export const ZARRAY = {
  zarr_format: 2,
  shape: [20, 30],
  chunks: [10, 15],
  dtype: "<i4",
  compressor: { id: "zlib", level: 1 },
  fill_value: 42,
  order: "C",
  filters: null,
};
