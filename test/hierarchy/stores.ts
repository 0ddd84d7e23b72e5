import type { GetOptions, Store, StoreOptions } from "../../src/stores/store.ts";

export const ZGROUP = { zarr_format: 2 };
export const ZARRAY = {
  zarr_format: 2,
  shape: [4, 6],
  chunks: [2, 3],
  dtype: "<i4",
  compressor: null,
  fill_value: 0,
  order: "C",
  filters: null,
};
export const GROUP = { attributes: {}, zarr_format: 3, node_type: "group" };
export const ARRAY = {
  shape: [4, 6],
  data_type: "int32",
  chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 3] } },
  chunk_key_encoding: { name: "default" },
  fill_value: 0,
  codecs: [{ name: "bytes", configuration: { endian: "little" } }],
  zarr_format: 3,
  node_type: "array",
};
export const consolidatedV3 = (metadata: object) => ({
  ...GROUP,
  consolidated_metadata: { kind: "inline", must_understand: false, metadata },
});

/** A store without listing, which counts what is asked of it. */
export class UnlistedStore implements Store {
  readonly description = "unlisted";
  readonly asked: string[] = [];
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get(key: string, options?: GetOptions): Promise<Uint8Array | undefined> {
    this.asked.push(key);
    return this.#store.get(key, options);
  }

  size(key: string, options?: StoreOptions): Promise<number | undefined> {
    return this.#store.size(key, options);
  }
}
