/**
 * Chunked arrays (Zarr) on WHATWG streams: open, copy, rechunk, slice, within a memory budget.
 *
 * @module
 */
export * from "./flows/index.ts";
export {
  type CreateGroupOptions,
  type CreateOptions,
  create,
  createGroup,
} from "./hierarchy/create/create.ts";
export { like } from "./hierarchy/create/like.ts";
export type { FillOption, NewArray, NewGroup } from "./hierarchy/create/metadata.ts";
export type { CreateTarget } from "./hierarchy/create/target.ts";
export { type SetAttributesOptions, setAttributes } from "./hierarchy/edit/attributes.ts";
export { type DeleteOptions, deleteNode } from "./hierarchy/edit/delete.ts";
export type { EditSource } from "./hierarchy/edit/parent.ts";
export { type RenameOptions, renameNode } from "./hierarchy/edit/rename.ts";
export { type ResizeOptions, resizeArray } from "./hierarchy/edit/resize.ts";
export { type TypedZarrArray, ZarrArray, ZarrGroup, type ZarrNode } from "./hierarchy/node.ts";
export {
  exists,
  type OpenOptions,
  open,
  openArray,
  openGroup,
} from "./hierarchy/open/open.ts";
export { children, walk } from "./hierarchy/open/walk.ts";
export { ArrayWriter, type NodeWriterOptions } from "./hierarchy/write/array.ts";
export { type Frames, type GrowingArray, placeFrames } from "./hierarchy/write/frames.ts";
export { GroupWriter } from "./hierarchy/write/group.ts";
export type { ArrayPart } from "./hierarchy/write/parts.ts";
export { type RegionOption, type WriteRegionOptions, writeRegion } from "./hierarchy/write/region.ts";
export type { ValueList, Values } from "./hierarchy/write/values.ts";
export type { CodecOption } from "./meta/codec-option.ts";
export type { DataTypeName, DataTypeQuery } from "./meta/data-type-name.ts";
export type { DataTypeOption } from "./meta/data-type-option.ts";
export { defineStore, type StoreDefinition } from "./stores/define-store.ts";
export type { Store, StoreSpec } from "./stores/store.ts";
export type { ChunkRef, DecodedChunk, Region } from "./streams/chunk.ts";
export {
  type DetailsByCode,
  type DetailsOf,
  type ErrorCode,
  type ErrorDetails,
  type ErrorOf,
  EXIT_CODES,
  HTTP_STATUS,
  isZarrflowError,
  type PlainCode,
  ZarrflowError,
} from "./util/errors.ts";
