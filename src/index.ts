/**
 * Chunked arrays (Zarr) on WHATWG streams: open, copy, rechunk, slice, within a memory budget.
 *
 * @module
 */
export * from "./flows/index.ts";
export { ZarrArray, ZarrGroup, type ZarrNode } from "./hierarchy/node.ts";
export { open, openArray, openGroup } from "./hierarchy/open.ts";
export { walk } from "./hierarchy/walk.ts";
export {
  type ErrorCode,
  type ErrorDetails,
  EXIT_CODES,
  isZarrflowError,
  ZarrflowError,
} from "./util/errors.ts";
