/**
 * Whole jobs (copy, rechunk, slice, digest, info), their plans, and the types that they take and return.
 *
 * @module
 */

export type { EditSource } from "../hierarchy/edit/parent.ts";
export type { OpenSource } from "../hierarchy/open/open.ts";
export type {
  ConcurrencyOption,
  Context,
  GridStrategy,
  ReadOptions,
  SlabOptions,
  SourceOptions,
} from "../hierarchy/read-options.ts";
export {
  type DecodedSliceValues,
  type OpenSliceOptions,
  Slice,
  type SliceChunk,
  type SliceChunkOptions,
  type SliceOptions,
  type SliceValues,
} from "../hierarchy/slice.ts";
export type {
  CyclicRange,
  IndexRange,
  Label,
  Labeled,
  LabelOptions,
  LabelRange,
  MaybeYears,
  Range,
  SelOption,
  SliceOption,
} from "../hierarchy/slice-option.ts";
export type { NodeWriterOptions } from "../hierarchy/write/array.ts";
export type { GrowingArray } from "../hierarchy/write/chunk-draft.ts";
export type { ValueList } from "../hierarchy/write/values.ts";
export type { KeyFilter } from "../plan/key-filter.ts";
export type { ArrayJob, KeptChunks, Plan, PlanTotals, StoreProfile, StoreProfiles } from "../plan/plan.ts";
export type { StrategyName } from "../plan/strategies.ts";
export { countWrites, readsOf, stepsOf, type Task, taskAt, writesOf } from "../plan/task.ts";
export type { Warning } from "../plan/warnings.ts";
export type {
  ArrayProgress,
  EventOptions,
  FlowEvent,
  Progress,
  ProgressTotals,
  ReadEvent,
  ReadEventOptions,
  RunCounts,
  RunReport,
  ThreadReport,
  WarningEvent,
} from "../run/events.ts";
export type { Ledger, LedgerEntry } from "../run/ledger.ts";
export type { RunOptions } from "../run/run-options.ts";
export type { FormatSliceOptions } from "../run/slabs/raw.ts";
export type { ItemValues, TypedValues, ValuesOf } from "../run/slabs/typed-values.ts";
export type { TaskContext } from "../run/tasks.ts";
export { runTask, type TaskStages, taskSink, taskStages } from "../run/tasks.ts";
export { type PageWorker, registerWorker } from "../run/threads/registered-worker.ts";
export type { Overflow } from "../run/values/cast-numbers.ts";
export type { MappedChunk, MappedValues, ValueMap } from "../run/values/value-map.ts";
export type { DetailsByCode, DetailsOf, PlainCode } from "../util/errors.ts";
export { type AppendedArray, type AppendOptions, type AppendReport, append } from "./append.ts";
export { type AsStoreOptions, asStore } from "./as-store.ts";
export { type CleanedLeftover, type CleanOptions, clean } from "./clean.ts";
export { type ContextOptions, context } from "./context.ts";
export {
  type ConvertOptions,
  convert,
  copy,
  type RechunkOptions,
  rechunk,
  type SliceToOptions,
  sliceTo,
} from "./copy.ts";
export { type Difference, type DiffOptions, diff } from "./diff.ts";
export { mergeDigestTrees } from "./digest/merge-trees.ts";
export type { ArrayTree, DigestTree, TreeCells } from "./digest/tree-hash.ts";
export {
  type ArrayDigest,
  type BrokenDigest,
  type DigestOptions,
  type DigestTreeOptions,
  digest,
  digestTree,
  type TreePart,
} from "./digest.ts";
export type { CopyEstimate, EstimateOptions } from "./estimate-copy.ts";
export { type FetchHandler, type FetchHandlerOptions, toFetchHandler } from "./fetch-handler.ts";
export {
  type ArrayInfo,
  type BrokenInfo,
  type GroupInfo,
  type InfoOptions,
  type InfoTotals,
  info,
  type NodeInfo,
} from "./info.ts";
export { simulatePlan } from "./jobs/simulate.ts";
export type { Prices, SimulatedStage, Simulation, SimulationOptions } from "./jobs/simulation.ts";
export { type PlanSliceOptions, planSlice, type SlicePlan } from "./plan-slice.ts";
export {
  type LevelsOption,
  type PyramidArray,
  type PyramidLevel,
  type PyramidMethod,
  type PyramidOptions,
  type PyramidReport,
  pyramid,
} from "./pyramid.ts";
export type { ChunkSize, ChunksOption, DimensionMatch } from "./request/chunk-option.ts";
export type {
  ArrayChanges,
  Changes,
  FlowOptions,
  PackedType,
  PackOption,
  PlanningOptions,
  PlanOptions,
  ValueChanges,
} from "./request/flow-options.ts";
export type { TakenItems } from "./request/labels/found-labels.ts";
export { readDecoded, slice } from "./slice.ts";
export {
  type Planned,
  type PlanShare,
  plan,
  type ReadPlanOptions,
  readPlan,
  type ShareRunOptions,
  type StoredPlan,
} from "./stored-plan.ts";
export type { FlowTarget } from "./target/flow-target.ts";
export {
  type TreeArray,
  type TreeBroken,
  type TreeGroup,
  type TreeNode,
  type TreeOptions,
  tree,
} from "./tree.ts";
export { type ValidateFinding, type ValidateOptions, validate } from "./validate.ts";
