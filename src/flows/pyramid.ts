import { createGroup } from "../hierarchy/create/create.ts";
import type { CreateTarget } from "../hierarchy/create/place.ts";
import type { ZarrNode } from "../hierarchy/node.ts";
import { exists, type OpenSource } from "../hierarchy/open/open.ts";
import { leaseMemory } from "../hierarchy/read-options.ts";
import type { ArrayWriter } from "../hierarchy/write/array.ts";
import type { GroupWriter } from "../hierarchy/write/group.ts";
import { SourceWatch } from "../run/source-watch.ts";
import { textOfUrl } from "../stores/assertions.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import { memoryLimit } from "../streams/byte-budget.ts";
import { assertTargetPlace } from "../targets/index.ts";
import { assertRules, checkedOptions, oneOf } from "../util/options.ts";
import { product } from "../util/shape.ts";
import { copyBoxes } from "./boxes.ts";
import { type LevelJob, type PyramidPlan, planPyramid } from "./pyramid/level-jobs.ts";
import { blockOffset, PYRAMID_OPTIONS, type PyramidOptions } from "./pyramid/pyramid-options.ts";
import { PYRAMID_METHODS, type PyramidMethod } from "./pyramid/reduce-blocks.ts";
import { coordinateLevels, writeLevels } from "./pyramid/write-levels.ts";
import { openSource } from "./request/open-source.ts";
import { noteAccess } from "./request/option-effects.ts";
import { usualConcurrency } from "./request/store-settings.ts";
import { assertApart, targetSpec } from "./target/flow-target.ts";

export type { LevelsOption } from "./pyramid/pyramid-options.ts";
export type { PyramidMethod, PyramidOptions };

/** One array of the source, in all levels. */
export interface PyramidArray {
  /** Name of the array in the group of each level; "" if levels are arrays. */
  readonly name: string;
  readonly dataType: string;
  /** How the array shrinks; absent if none of its dimensions does. */
  readonly method?: PyramidMethod;
  /** Reason for the method: `as asked`, `by default`, or the kind of its values. */
  readonly reason?: string;
  /** Shapes in items, from the first level on. */
  readonly shapes: readonly (readonly number[])[];
  /** Shape of the source items in memory at one time; absent for coordinates and for arrays that do not shrink. */
  readonly window?: readonly number[];
  /** Number of levels made from one window. Higher levels are assembled from its blocks. */
  readonly levelsInWindow?: number;
  /** Bytes of buffers that the array may take at one time. */
  readonly leaseBytes?: number;
}

export interface PyramidLevel {
  /** Path below the target: an array of an image, or a group. */
  readonly path: string;
  /** Reduction relative to the first level, along each spatial dimension. */
  readonly scale: readonly number[];
  /** Position of its first item, in items of the first level. */
  readonly translation: readonly number[];
}

export interface PyramidReport {
  /** Metadata convention that describes the levels. */
  readonly convention: "OME-Zarr 0.4" | "OME-Zarr 0.5" | "OME-Zarr 0.6" | "multiscales";
  /** Method of an image, or of those variables of a dataset that are not classes. */
  readonly method: PyramidMethod;
  /** Names of the dimensions that shrink. */
  readonly spatial: readonly string[];
  readonly levels: readonly PyramidLevel[];
  readonly arrays: readonly PyramidArray[];
  readonly seconds: number;
  /** Peak bytes of item buffers. */
  readonly peakBuffers: number;
  /** Set if nothing was done because the target already existed (`ifExists: "skip"`). */
  readonly skipped?: true;
}

/**
 * Writes an image, or a geographic dataset, in several resolutions. The first level has the items of the source; each
 * of the others is reduced from the level before it. The source is read once, within the memory budget. All levels use
 * the chunks, codecs and format of the source unless `codec` and `to` say otherwise. The target appears under its name
 * once it is complete, or not at all.
 *
 * For an array, or a group that is an OME-Zarr image, levels are arrays `0`, `1`, ... with OME-Zarr metadata: 0.4 in
 * Zarr v2, 0.5 in v3, and 0.6 if the source image is 0.6. Space axes (z, y, x) shrink. For any other group, levels are
 * groups `0`, `1`, ... of its arrays, described by the GeoZarr convention `multiscales`; latitude, longitude, y and x
 * shrink. By default labels, masks and classes shrink by `mode`, everything else by `mean`.
 *
 * Missing items are ignored: NaN, and items equal to `_FillValue` (in v2, the fill value of arrays with dimension
 * names). A block with no other items is missing too. Means of integers are rounded half to even. Partial blocks at the
 * end use the items they have.
 *
 * @throws `invalid-option` for impossible factors, methods and axes; `unsupported-operation` for items that are not
 *   numbers; `target-exists`; `budget-too-small`; `source-changed`; whatever a store throws.
 * @example
 * ```ts
 * import { pyramid } from "zarrflow";
 *
 * const { levels } = await pyramid("era5.zarr", "era5-pyramid.zarr", { levels: 3 });
 * console.log(levels.map(({ scale }) => scale[0])); // [ 1, 2, 4 ]
 * ```
 */
export async function pyramid(
  source: OpenSource,
  target: CreateTarget,
  given: PyramidOptions = {},
): Promise<PyramidReport> {
  const options = checkedOptions(given, PYRAMID_OPTIONS);
  const { levels = "auto", ifExists = "error", dryRun = false, signal } = options;
  assertRules({ method: options.method, ifExists, levels, axes: options.axes, to: options.to }, RULES);
  const maxMemory = memoryLimit(options);
  const started = performance.now();
  const { root, close } = await openSource(source, options);
  try {
    const spec = targetSpec(target, options).store;
    await assertApart(root, spec);
    noteAccess(options, [root.spec, spec]);
    const concurrency = usualConcurrency(options.concurrency, root.spec, spec);
    const named = textOfUrl(target);
    const place = typeof named === "string" ? named : "path" in named ? named.path : "";
    const plan = await planPyramid(root, place, { ...options, levels, maxMemory, concurrency });
    for (const warning of plan.warnings) options.onEvent?.({ type: "warning", ...warning });
    const report = (peakBuffers: number, more: object = {}) => ({
      ...described(plan),
      seconds: (performance.now() - started) / 1000,
      peakBuffers,
      ...more,
    });
    const isKept = ifExists === "skip" && (await exists(target, { signal }));
    if (isKept) return report(0, { skipped: true });
    const existing = ifExists === "replace" ? "replace" : "error";
    if (dryRun) {
      await assertTargetPlace(spec, { ifExists: existing, signal });
      return report(0);
    }
    const release = await leaseMemory(options, maxMemory);
    try {
      const buffers = new BufferPool(maxMemory);
      await write(root, target, plan, { ...options, ifExists: existing, maxMemory, concurrency, buffers });
      return report(buffers.peak);
    } finally {
      release();
    }
  } finally {
    await close();
  }
}

const RULES = {
  method: oneOf(...PYRAMID_METHODS),
  to: oneOf("v2", "v3"),
  ifExists: oneOf("error", "skip", "replace"),
  axes: { expected: "names of axes such as tczyx", holds: (value: unknown) => typeof value === "string" },
  levels: {
    expected: "a whole number, 1 to 30, or auto",
    holds: (value: unknown) =>
      value === "auto" || (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 30),
  },
};

interface WriteOptions extends Pick<PyramidOptions, "onEvent" | "signal" | "maxMetadata"> {
  readonly ifExists: "error" | "replace";
  readonly maxMemory: number;
  readonly concurrency: number;
  readonly writeEmptyChunks?: boolean;
  readonly buffers: BufferPool;
}

async function write(
  root: ZarrNode,
  target: CreateTarget,
  plan: PyramidPlan,
  options: WriteOptions,
): Promise<void> {
  const { ifExists, writeEmptyChunks = false, maxMetadata, concurrency, signal } = options;
  const { zarrFormat, attributes, jobs, levelAttributes, sources } = plan;
  const nodes = [root, ...sources, ...jobs.map(({ array }) => array)];
  const watch = await SourceWatch.begin(nodes, [root.store], { signal });
  try {
    const consolidated = levelAttributes.length > 0;
    const making = { ifExists, consolidated, writeEmptyChunks, concurrency, allowUnicode: true, signal };
    const group = await createGroup(
      target,
      { zarrFormat, attributes },
      { ...making, ...(maxMetadata !== undefined && { maxMetadata }) },
    );
    try {
      const groups: GroupWriter[] = [];
      for (const [i, attributes] of levelAttributes.entries()) {
        groups.push(await group.createGroup(`${i}`, { attributes }));
      }
      for (const job of jobs) await writeJob(job, group, groups, options);
      for (const level of groups) await level.close();
      await watch.assertUnchanged({ concurrency, signal });
      await group.close();
    } catch (error) {
      await group.abort(error);
      throw error;
    }
  } finally {
    watch.end();
  }
}

async function writeJob(
  job: LevelJob,
  group: GroupWriter,
  groups: readonly GroupWriter[],
  { maxMemory, concurrency, writeEmptyChunks = false, buffers, onEvent, signal }: WriteOptions,
): Promise<void> {
  const { name, array, metadata, levels, method, numbers, windows, role } = job;
  const writers: ArrayWriter[] = [];
  for (const [i, one] of metadata.entries()) {
    writers.push(await (groups[i]?.createAs(name, one) ?? group.createAs(`${i}`, one)));
  }
  const size = "size" in array.metadata.dataType ? array.metadata.dataType.size : 1;
  let items = 0;
  const onItems = (count: number) => {
    items += count;
    onEvent?.({
      type: "read",
      path: name || array.path,
      bytes: items * size,
      allBytes: product(array.shape) * size,
    });
  };
  const writing = { writeEmptyChunks, buffers, onItems, signal };
  if (windows && numbers && method) {
    await writeLevels(array, writers, levels, { ...writing, method, numbers, windows });
  } else {
    const isSmall = role === "coordinate" || role === "bounds";
    const source = { source: array.innerChunks(), path: array.path };
    const region = { start: array.shape.map(() => 0), shape: array.shape };
    const copies = isSmall ? writers.slice(0, 1) : writers;
    await copyBoxes(source, copies, { region, shift: region.start }, { ...writing, maxMemory, concurrency });
    const made = isSmall ? await coordinateLevels(job, levels, { signal }) : [];
    for (const [i, values] of made.entries()) {
      if (i > 0) await writers[i]?.write([], Array.from(values));
    }
  }
  for (const writer of writers) await writer.close();
}

function described(plan: PyramidPlan) {
  const { convention, method, spatial, axes, levels, jobs } = plan;
  return {
    convention,
    method,
    spatial,
    levels: levels.map(({ scale }, i) => {
      const own = axes.map((d) => scale[d] ?? 1);
      return { path: `${i}`, scale: own, translation: own.map((n) => blockOffset(n, method)) };
    }),
    arrays: jobs.map((job): PyramidArray => {
      const { windows } = job;
      return {
        name: job.name,
        dataType: job.array.dataType,
        ...(job.method && { method: job.method, reason: job.reason ?? "" }),
        shapes: job.levels.map(({ shape }) => shape),
        ...(windows && {
          window: windows.window,
          levelsInWindow: windows.windowLevel + 1,
          leaseBytes: windows.leaseBytes,
        }),
      };
    }),
  };
}
