import type { OpenSource } from "../hierarchy/open/open.ts";
import type { RunReport } from "../run/events.ts";
import { RUN_OPTIONS } from "../run/run-options.ts";
import { ZarrflowError } from "../util/errors.ts";
import { checkedOptions, pickOptions } from "../util/options.ts";
import { planFlow } from "./request/flow.ts";
import { type Changes, FLOW_OPTIONS, type FlowOptions, PLANNING_OPTIONS } from "./request/flow-options.ts";
import { runFlow } from "./run-flow.ts";
import type { FlowTarget } from "./target/flow-target.ts";

/**
 * Copies an array, or a group with everything below it, byte for byte, including keys that are not Zarr. The target
 * appears under its name once it is complete, or not at all.
 *
 * @throws as `plan`; `target-exists`; whatever a store throws, with the key.
 * @example
 * ```ts
 * import { copy } from "zarrflow";
 *
 * const { keysWritten } = await copy("era5.zarr", "era5.zarr.zip", { verify: true });
 * console.log(keysWritten, "keys");
 * ```
 */
export async function copy(
  source: OpenSource,
  target: FlowTarget,
  options: FlowOptions = {},
): Promise<RunReport> {
  const checked = checkedOptions(options, FLOW_OPTIONS);
  const planned = await planFlow(source, target, pickOptions(checked, PLANNING_OPTIONS));
  return runFlow(planned, pickOptions(checked, RUN_OPTIONS));
}

/** Options of `rechunk`; `chunks` is required. */
export type RechunkOptions = FlowOptions & Required<Pick<Changes, "chunks">>;

/**
 * Rechunks an array, or the arrays of a group, to another chunk shape within `maxMemory`. The target appears under its
 * name once it is complete, or not at all.
 *
 * In a group, every array that has all the named dimensions is rechunked, except 1-d coordinates named after their
 * dimension. The rest is copied unchanged.
 *
 * @throws as `copy`; `invalid-option` for chunks that fit no array; `corrupt-chunk` with array, key and codec.
 * @example
 * ```ts
 * import { rechunk } from "zarrflow";
 *
 * await rechunk("era5.zarr", "series.zarr.zip", {
 *   chunks: { time: -1, latitude: 11, longitude: 7 },
 *   maxMemory: "256MB",
 * });
 * ```
 */
export async function rechunk(
  source: OpenSource,
  target: FlowTarget,
  options: RechunkOptions,
): Promise<RunReport> {
  assertNamed(options, "rechunk", "chunks");
  return copy(source, target, options);
}

/** Options of `convert`; `to` is required. */
export type ConvertOptions = FlowOptions & Required<Pick<Changes, "to">>;

/**
 * Converts an array, or a group with everything below it, to another format. Chunks whose bytes mean the same in both
 * formats are copied unchanged.
 *
 * @throws as `copy`; `loss-refused` with the JSON pointers of what the format cannot represent, unless allowed.
 * @example
 * ```ts
 * import { convert } from "zarrflow";
 *
 * await convert("era5.zarr", "era5.v3.zarr", { to: "v3" });
 * ```
 */
export async function convert(
  source: OpenSource,
  target: FlowTarget,
  options: ConvertOptions,
): Promise<RunReport> {
  assertNamed(options, "convert", "to");
  return copy(source, target, options);
}

/** Options of `sliceTo`; `slice` or `sel` is required. */
export type SliceToOptions = FlowOptions &
  (Required<Pick<Changes, "slice">> | Required<Pick<Changes, "sel">>);

/**
 * Writes a part of an array, or of a group as a smaller group, with the same attributes. All dimensions stay; an index
 * leaves one item. Chunks keep their shape, but are no larger than the part.
 *
 * In a group, every array that has one of the named dimensions is cut, coordinates and bounds included. The other
 * arrays are copied whole; other keys are left out. A subgroup in which a dimension has another length is copied whole,
 * with a warning.
 *
 * A single array brings its companions, cut alike: the target is then a group with the array under its own name, its
 * coordinates, and the arrays that its attributes name. Without companions, or with `companions: false`, the target is an array.
 *
 * In an OME-Zarr image, ranges count items of the first level. The other levels, and those of labels, keep the items
 * that overlap the part, with the same step. Transformations, channels and the default plane are updated.
 *
 * @throws as `copy`; `invalid-selection` for a wrong rank, name or range, for a dimension with different lengths in one
 *   group (with `strict` also in subgroups), and for an image level whose length contradicts its scale;
 *   `invalid-option` for ranges without names for a group, and for `include` with an array; `resource-limit` for an
 *   array whose attributes name too many others; `unsupported-operation` for unknown image transformations.
 * @example
 * ```ts
 * import { sliceTo } from "zarrflow";
 *
 * await sliceTo("era5.zarr", "day.zarr.zip", { slice: { time: [0, 24], latitude: [10, 20] } });
 * ```
 */
export async function sliceTo(
  source: OpenSource,
  target: FlowTarget,
  options: SliceToOptions,
): Promise<RunReport> {
  assertNamed(options, "sliceTo", "slice", "sel");
  return copy(source, target, options);
}

/** Checks that the required option of a verb is set, which JavaScript callers can omit. @throws `invalid-option` */
function assertNamed(options: FlowOptions, verb: string, ...names: readonly (keyof Changes)[]): void {
  const checked = checkedOptions(options, FLOW_OPTIONS);
  if (names.some((name) => checked[name] !== undefined)) return;
  throw new ZarrflowError("invalid-option", `${verb} needs \`${names[0]}\``, {
    hint: "Without it nothing would change. To copy as is, use `copy`.",
  });
}
