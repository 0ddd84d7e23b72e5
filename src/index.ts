/**
 * Opens, copies, rechunks and slices chunked arrays (Zarr) on WHATWG streams, within a memory budget. `zarrflow/flows`
 * adds the parts for programs that plan, run and report themselves. Stages are in `zarrflow/streams`, stores in
 * `zarrflow/stores/...`.
 *
 * @module
 */
export {
  type AppendOptions,
  type AppendReport,
  type ArrayChanges,
  type ArrayDigest,
  type ArrayInfo,
  type AsStoreOptions,
  append,
  asStore,
  type Changes,
  type ChunksOption,
  type CleanOptions,
  type Context,
  type ContextOptions,
  type ConvertOptions,
  clean,
  context,
  convert,
  copy,
  type DecodedSliceValues,
  type Difference,
  type DiffOptions,
  type DigestOptions,
  type DigestTree,
  diff,
  digest,
  digestTree,
  type FetchHandler,
  type FetchHandlerOptions,
  type FlowEvent,
  type FlowOptions,
  type FlowTarget,
  type FormatSliceOptions,
  type InfoOptions,
  info,
  type KeyFilter,
  type Label,
  type MappedChunk,
  mergeDigestTrees,
  type NodeInfo,
  type OpenSliceOptions,
  type OpenSource,
  type Plan,
  type Planned,
  type PlanOptions,
  type Progress,
  type PyramidOptions,
  type PyramidReport,
  plan,
  planSlice,
  pyramid,
  type Range,
  type ReadOptions,
  type RechunkOptions,
  type RunOptions,
  type RunReport,
  readDecoded,
  readPlan,
  rechunk,
  registerWorker,
  type SelOption,
  type Simulation,
  type SimulationOptions,
  Slice,
  type SliceChunk,
  type SliceChunkOptions,
  type SliceOption,
  type SliceOptions,
  type SliceToOptions,
  type SliceValues,
  type StoredPlan,
  simulatePlan,
  slice,
  sliceTo,
  type TreeNode,
  type TreeOptions,
  toFetchHandler,
  tree,
  type ValidateFinding,
  type ValidateOptions,
  type ValueChanges,
  type ValueMap,
  type ValuesOf,
  validate,
  type WarningEvent,
} from "./flows/index.ts";
export {
  type CreateGroupOptions,
  type CreateOptions,
  create,
  createGroup,
  like,
} from "./hierarchy/create/create.ts";
export type { FillOption, NewArray, NewGroup } from "./hierarchy/create/metadata.ts";
export type { CreateTarget } from "./hierarchy/create/place.ts";
export { type DeleteOptions, deleteNode } from "./hierarchy/edit/delete.ts";
export { type SetAttributesOptions, setAttributes } from "./hierarchy/edit/metadata.ts";
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
export { ArrayWriter } from "./hierarchy/write/array.ts";
export { type Frames, placeFrames } from "./hierarchy/write/chunk-draft.ts";
export { GroupWriter } from "./hierarchy/write/group.ts";
export { type RegionOption, type WriteRegionOptions, writeRegion } from "./hierarchy/write/region.ts";
export type { ArrayPart, Values } from "./hierarchy/write/values.ts";
export type { CodecOption } from "./meta/codec-option.ts";
export type { DataTypeName, DataTypeQuery } from "./meta/data-type-name.ts";
export type { DataTypeOption } from "./meta/data-type-option.ts";
export { defineStore, type StoreDefinition } from "./stores/define-store.ts";
export type { Store } from "./stores/store.ts";
export type { DecodedChunk, Region } from "./streams/chunk.ts";
export { formatSlice, type SliceFormat } from "./tables/slice-format.ts";
export {
  type ErrorCode,
  type ErrorDetails,
  type ErrorOf,
  EXIT_CODES,
  HTTP_STATUS,
  isZarrflowError,
  ZarrflowError,
} from "./util/errors.ts";
