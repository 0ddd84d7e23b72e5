/**
 * Opens arrays and reads parts of them, and nothing else: a small entry for pages that show data. The main entry of the
 * package has the same functions.
 *
 * @module
 */
export { slice } from "./flows/slice.ts";
export type { TypedZarrArray, ZarrArray, ZarrGroup, ZarrNode } from "./hierarchy/node.ts";
export {
  exists,
  type OpenOptions,
  type OpenSource,
  open,
  openArray,
  openGroup,
} from "./hierarchy/open/open.ts";
export type {
  DecodedSliceValues,
  OpenSliceOptions,
  Slice,
  SliceChunk,
  SliceChunkOptions,
  SliceOptions,
  SliceValues,
} from "./hierarchy/slice.ts";
export { isZarrflowError, ZarrflowError } from "./util/errors.ts";
