/**
 * Whole jobs: copy, rechunk, slice, digest, info; and the plans behind them.
 *
 * @module
 */

export type { Range, SliceOption } from "../hierarchy/slice-option.ts";
export type { Changes } from "./changes.ts";
export type { ChunksOption } from "./chunk-option.ts";
export { type CleanedLeftover, type CleanOptions, clean } from "./clean.ts";
export { type ConvertChanges, convert, planConvert } from "./convert.ts";
export { copy, planCopy } from "./copy.ts";
export { type Difference, type DiffOptions, diff } from "./diff.ts";
export { type ArrayDigest, type DigestOptions, digest } from "./digest.ts";
export { type CopyEstimate, estimateCopy } from "./estimate-copy.ts";
export type {
  EventOptions,
  FlowEvent,
  Progress,
  ReadEvent,
  RunCounts,
  RunReport,
  ThreadReport,
} from "./events.ts";
export type { FlowSource, Planned, PlanOptions, RunOptions } from "./flow.ts";
export type { FlowTarget } from "./flow-target.ts";
export { formatSlice, type SliceFormat } from "./formats/slice-format.ts";
export { type ArrayInfo, info } from "./info.ts";
export type { KeyFilter } from "./key-filter.ts";
export type { Ledger, LedgerEntry } from "./ledger.ts";
export type { ArrayJob, Plan, PlanTotals, Strategy } from "./plan/plan.ts";
export { countWrites, readsOf, stepsOf, type Task, taskAt, writesOf } from "./plan/task.ts";
export { planSlice, type SlicePlan } from "./plan-slice.ts";
export { planRechunk, type RechunkChanges, rechunk } from "./rechunk.ts";
export { runTask, type TaskStages, taskSink, taskStages } from "./run/tasks/run-task.ts";
export type { TaskContext } from "./run/tasks/task-context.ts";
export { runFlow } from "./run-flow.ts";
export { Slice, type SliceChunk, type SliceValues, slice } from "./slice.ts";
export { planSliceTo, type SliceChanges, sliceTo } from "./slice-to.ts";
export { type TreeArray, type TreeBroken, type TreeGroup, type TreeNode, tree } from "./tree.ts";
export type { ItemValues, TypedValues, ValuesOf } from "./typed-values.ts";
export { type ValidateFinding, type ValidateOptions, validate } from "./validate.ts";
export type { Warning } from "./warnings.ts";
