import type { OpenSource } from "../hierarchy/open/open.ts";
import { checkedOptions, pickOptions } from "../util/check-options.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { RunReport } from "./events.ts";
import type { Changes } from "./request/changes.ts";
import { planFlow } from "./request/flow.ts";
import { FLOW_OPTIONS, type FlowOptions, PLANNING_OPTIONS, RUN_OPTIONS } from "./request/flow-options.ts";
import { runFlow } from "./run/run-flow.ts";
import type { FlowTarget } from "./target/flow-target.ts";

/**
 * Copies an array or a group with all below it, byte for byte, also keys that are no Zarr. The target appears
 * under its name when it is complete, or not at all.
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

/** Options of `rechunk`; `chunks` is needed. */
export type RechunkOptions = FlowOptions & Required<Pick<Changes, "chunks">>;

/**
 * Rechunks an array, or the arrays of a group, to another chunk shape, in one pass and within `maxMemory`. The
 * target appears under its name when it is complete, or not at all.
 *
 * Of a group, every array is rechunked that has all the named dimensions, save 1-d coordinates named after their dimension;
 * the rest is copied as it is.
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

/** Options of `convert`; `to` is needed. */
export type ConvertOptions = FlowOptions & Required<Pick<Changes, "to">>;

/**
 * Converts an array or a group with all below it to another format. Chunks whose bytes mean the same there are
 * copied as they are.
 *
 * @throws as `copy`; `loss-refused` with the JSON pointers of what the format cannot hold, unless allowed.
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

/** Options of `sliceTo`; `slice` or `sel` is needed. */
export type SliceToOptions = FlowOptions &
  (Required<Pick<Changes, "slice">> | Required<Pick<Changes, "sel">>);

/**
 * Writes a part of an array, or of a group as a smaller group, with the same attributes. Of a
 * group, every array is cut that has any of the named dimensions, coordinates and bounds too; the others are taken
 * whole, and other keys are left out. All dimensions stay; one that an index is given for has one item.
 * Chunks keep their shape, but are no larger than the part. A group below, in which a dimension has another length, is taken
 * whole, with a warning.
 *
 * What belongs to an array comes along and is cut alike: the target is a group then, with the array under its own name, its
 * coordinates, and the arrays that its attributes name. It is an array where nothing belongs to it, or with `alone`.
 *
 * Of an OME-Zarr image, ranges count items of its first level. The other levels, and those of its labels, give the items
 * that hold any of that part, with the same step; transformations, channels and the plane shown first are made true.
 *
 * @throws as `copy`; `invalid-selection` for a wrong rank, name or range, for a dimension that has different lengths in
 *   arrays of one group, or with `strict` in groups below, and for a level of an image that is not as long as its scale
 *   says; `invalid-option` for ranges without names for a group, and for `include` with an array; `resource-limit` for an
 *   array whose attributes name others without end; `unsupported-operation` for transformations of an image that are not known.
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

/** The option that a call is about, in which callers from JavaScript may name nothing. @throws `invalid-option` */
function assertNamed(options: FlowOptions, verb: string, ...names: readonly (keyof Changes)[]): void {
  const checked = checkedOptions(options, FLOW_OPTIONS);
  if (names.some((name) => checked[name] !== undefined)) return;
  throw new ZarrflowError("invalid-option", `${verb} needs \`${names[0]}\``, {
    hint: "Without it everything would be copied as it is, as `copy` does.",
  });
}
