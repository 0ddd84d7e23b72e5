/**
 * Chunked arrays (Zarr) on WHATWG streams: open, copy, rechunk, slice, within a memory budget.
 *
 * @module
 */
export * from "./flows/index.ts";
export { ZarrArray, ZarrGroup } from "./hierarchy/node.ts";
export { open, openArray, openGroup } from "./hierarchy/open.ts";
export { walk } from "./hierarchy/walk.ts";
export { EXIT_CODES, type ErrorCode, type ErrorDetails, isZarrflowError, ZarrflowError } from "./util/errors.ts";
