import type { MemoryStore } from "../../src/stores/memory.ts";
import { givenKeys } from "../support/given.ts";

export const BOOTSTRAP = {
  zarr_format: "https://purl.org/zarr/spec/protocol/core/3.0",
  metadata_encoding: "application/json",
  extensions: [],
};
export const DRAFT_GROUP = { extensions: [], attributes: {} };
export const DRAFT_ARRAY = {
  shape: [4, 6],
  data_type: "<i4",
  chunk_grid: { type: "regular", chunk_shape: [2, 3] },
  chunk_memory_layout: "C",
  fill_value: 7,
  extensions: [],
  attributes: {},
};

/** The hierarchy that the draft's own examples are about, and what lies in its way. */
export const DRAFT_DOCUMENTS = {
  "zarr.json": BOOTSTRAP,
  "meta/root/foo/bar.group": { extensions: [], attributes: { spam: "ham" } },
  "meta/root/foo/baz/qux.array": DRAFT_ARRAY,
  "meta/root/dots.array/x.group/y.array": DRAFT_ARRAY,
  "meta/root/top.array": DRAFT_ARRAY,
};

/** A store in memory with that hierarchy, and other documents by key. */
export function draftStore(documents: Record<string, unknown> = {}): Promise<MemoryStore> {
  return givenKeys({ ...DRAFT_DOCUMENTS, ...documents });
}
