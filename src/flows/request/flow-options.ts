import type { FillOption } from "../../hierarchy/create/metadata.ts";
import type { ZarrNode } from "../../hierarchy/node.ts";
import {
  OPENING_OPTIONS,
  type PaceOptions,
  READ_OPTIONS,
  type ReadOptions,
  SLAB_OPTIONS,
  type SlabOptions,
} from "../../hierarchy/read-options.ts";
import { LABEL_OPTIONS, type LabelOptions, type SliceOption } from "../../hierarchy/slice-option.ts";
import type { ZarrFormat } from "../../meta/array-metadata.ts";
import type { CodecOption } from "../../meta/codec-option.ts";
import type { DataTypeOption } from "../../meta/data-type-option.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import { KEY_FILTER, type KeyFilter } from "../../plan/key-filter.ts";
import type { NodeSpec, Plan, PlannedConversion } from "../../plan/plan.ts";
import {
  EVENT_OPTIONS,
  type EventOptions,
  READ_EVENT_OPTIONS,
  type ReadEventOptions,
} from "../../run/events.ts";
import type { Settings } from "../../run/ledger.ts";
import { RUN_OPTIONS, type RunOptions } from "../../run/run-options.ts";
import type { Overflow } from "../../run/values/cast-numbers.ts";
import type { ValueMap } from "../../run/values/value-map.ts";
import { flagOf, type OptionNames } from "../../util/options.ts";
import type { ChunksOption, DimensionMatch } from "./chunk-option.ts";

/** All options of `copy`: how the source is read, what is done with it, and how the plan is run. */
export interface FlowOptions extends ReadOptions, PlanOptions, RunOptions {}

/**
 * Options of a plan: the part to take, the changes, and how to plan them. `ReadOptions` control how the source is
 * read.
 */
export interface PlanOptions extends SlabOptions, Changes, KeyFilter {
  /**
   * Action if the target exists; `error` by default. `skip` keeps the nodes that exist and adds the others.
   * `update`, for copies without changes, writes keys that differ and deletes those that the source lacks. Both
   * write in place, and must be set when the plan is made.
   */
  readonly ifExists?: "error" | "skip" | "replace" | "update" | undefined;
  /**
   * Expected speed of stores over a network: the latency of a small request, the bytes per second, or both (`30ms`,
   * `100MB/s`, `30ms,100MB/s`). A prefix `source=`, `target=` or `scratch=` limits it to one store. The defaults
   * are the measured latency of the first responses, and 100 MB/s. The choice of a plan and
   * `totals.predictedSeconds` depend on it.
   */
  readonly storeProfile?: string | readonly string[] | undefined;
  /** Also writes chunks that contain only the fill value. */
  readonly writeEmptyChunks?: boolean | undefined;
}

/** All options of planning. */
export interface PlanningOptions extends ReadOptions, PlanOptions, EventOptions {}

/** Read options and events of a flow without rate limits. */
export interface UnpacedOptions extends Omit<ReadOptions, keyof PaceOptions>, ReadEventOptions {}

/** The changes that a flow makes. Everything else is copied unchanged. */
export interface Changes extends LabelOptions {
  /**
   * New chunk shape: by dimension name, in order, or as text (`time=744,lat=11`, `744,11,7`; `t2m:time=-1,lat=16`
   * for one array of a group, `s*:time=-1` for the arrays that match a glob). -1 is the whole dimension. Several
   * texts are combined.
   *
   * `auto` as the size of a dimension makes chunks of at most 16 MB, decoded. The text `auto`, or a size such as
   * `100MB`, gives every array chunks of at most that size, with about the same number of chunks along each
   * dimension. Their lengths are multiples of the present ones; a chunk is divided only if it is larger than the
   * limit itself.
   */
  readonly chunks?: ChunksOption | string | readonly string[] | undefined;
  /**
   * Shard shape, in the same notation as `chunks`. Shards consist of whole chunks; -1 is the whole dimension.
   * `auto` makes shards of at most 256 MB, decoded; `none` removes shards. By default arrays keep their shards,
   * unless `chunks` is given: then they have none.
   */
  readonly shards?: ChunksOption | string | readonly string[] | undefined;
  /**
   * Selects the arrays of a group that named chunk and shard sizes apply to: those with all of the named dimensions
   * (`all`, the default), or with any of them (`any`).
   */
  readonly match?: DimensionMatch | undefined;
  /**
   * Changes to the values of arrays, by array name or glob: another data type, a `map` that computes new values,
   * `unpack`, `pack`. `*` matches all numeric arrays except those that describe others, such as coordinates.
   */
  readonly arrays?: ArrayChanges | undefined;
  /**
   * New compressor: `zstd:5`, `none`, JSON, or a codec. A list such as `bitround:10,zstd:5` replaces all filters,
   * compressors and checksums, in encoding order. Applies to the arrays that get new chunks or shards; to all
   * arrays if neither is given.
   */
  readonly codec?: CodecOption | undefined;
  /**
   * The part to take: ranges by dimension name, for a single array also in order, or as text
   * (`time=0:24,lat=10:20:2`; with labels `time=2019-03,lat=45..50`). A dimension with a single index stays, with
   * one item.
   *
   * In a group, every array that has one of the dimensions is cut; arrays of another resolution are cut by their
   * own coordinates, and other arrays are taken whole. Slicing one array also takes its coordinates and other
   * arrays that describe it, cut in the same way; `sliceTo` then writes a group.
   */
  readonly slice?: SliceOption | string | undefined;
  /**
   * Rejects a slice (`invalid-selection`) if a sliced dimension has another length in a subgroup or in an array
   * that describes the sliced one, without coordinates to select by. By default such nodes are taken whole, with a
   * warning.
   */
  readonly strict?: boolean | undefined;
  /** The format to write. */
  readonly to?: ZarrFormat | undefined;
  /** Information that the new format may drop: JSON pointers, as `loss-refused` reports them. */
  readonly allowLoss?: readonly string[] | undefined;
  /**
   * Also writes documents of the second format for nodes that have two (a group migrated from v2 to v3 in place).
   * By default these documents are left out, with a warning, unless the copy changes nothing.
   */
  readonly keepFormats?: boolean | undefined;
  /** Rejects chunks and shards that leave the grid of every array unchanged (`invalid-option`). */
  readonly mustChange?: boolean | undefined;
}

/**
 * Changes of values, by names and globs of arrays. `*` and other globs match arrays of numbers, except coordinates,
 * bounds, grid mappings and other arrays that attributes refer to. Changes for a name override those for a glob, which
 * override those for `*`. A single array is selected by its name or a glob.
 */
export type ArrayChanges = Readonly<Record<string, ValueChanges>>;

/** Changes of the values of an array. */
export interface ValueChanges {
  /**
   * New numeric data type. Values are cast, never scaled: floats round to the nearest float, and integer types accept
   * whole numbers in their range. Other values are rejected, unless `overflow` says otherwise.
   */
  readonly dataType?: DataTypeOption | undefined;
  /**
   * New fill value, which missing chunks read as. Items that are missing per the CF conventions become it, unless `map`
   * computes them. By default the old one, cast; NaN with `unpack`.
   */
  readonly fillValue?: FillOption | undefined;
  /**
   * Computes the new values of each source chunk: a function, or a module whose default export is one, by its URL
   * (`new URL("./celsius.js", import.meta.url)`) or file path. A module runs in all threads and in other processes, and
   * its hash is part of the plan. A function runs only in the calling thread.
   */
  readonly map?: ValueMap | URL | string | undefined;
  /**
   * Stores decoded values per the CF conventions: applies `scale_factor`, `add_offset` and `_Unsigned`, turns items
   * that are missing or outside the valid range into NaN, and removes these attributes.
   */
  readonly unpack?: boolean | undefined;
  /**
   * Packs values into integers of a type such as `int16`, and writes `scale_factor` and `add_offset` as attributes.
   * Without a given scale, one is chosen for the range of all values, which are read once more for this. NaN becomes
   * the fill value: by default the smallest value of the type, or the largest of an unsigned type. Packed sources are
   * unpacked first.
   */
  readonly pack?: PackOption | undefined;
  /** Attributes that replace those of the array, such as `{ units: "degC" }`; null removes one. */
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** With `clamp`, numbers that the type cannot represent become its nearest number; by default they are rejected. */
  readonly overflow?: Overflow | undefined;
}

/** How values are packed: an integer type, optionally with scale and offset: `value = packed * scale + offset`. */
export type PackOption =
  | PackedType
  | { readonly dataType: PackedType; readonly scale: number; readonly offset?: number | undefined };

/** Types that values can be packed into. */
export type PackedType = "int8" | "int16" | "int32" | "uint8" | "uint16" | "uint32";

export const CHANGES: OptionNames<Changes> = {
  ...LABEL_OPTIONS,
  chunks: true,
  shards: true,
  match: true,
  codec: true,
  arrays: true,
  slice: true,
  strict: true,
  to: true,
  keepFormats: true,
  allowLoss: true,
  mustChange: true,
};

export const VALUE_CHANGES: OptionNames<ValueChanges> = {
  dataType: true,
  fillValue: true,
  map: true,
  unpack: true,
  pack: true,
  attributes: true,
  overflow: true,
};

const PLAN_OPTIONS: OptionNames<PlanOptions> = {
  ...SLAB_OPTIONS,
  ...CHANGES,
  ...KEY_FILTER,
  ifExists: true,
  storeProfile: true,
  writeEmptyChunks: true,
};

export const PLANNING_OPTIONS: OptionNames<PlanningOptions> = {
  ...READ_OPTIONS,
  ...PLAN_OPTIONS,
  ...EVENT_OPTIONS,
};

export const UNPACED_OPTIONS: OptionNames<UnpacedOptions> = {
  ...OPENING_OPTIONS,
  ...READ_EVENT_OPTIONS,
  maxMemory: true,
  concurrency: true,
  context: true,
  signal: true,
};

export const FLOW_OPTIONS: OptionNames<FlowOptions> = { ...PLANNING_OPTIONS, ...RUN_OPTIONS };

type Deciding = Changes &
  KeyFilter &
  FormatOptions & { readonly strategy?: string; readonly ifExists?: string };

/** Options that decide what is written, or how it is divided into tasks. All others only affect the pace of a run. */
const DECIDING: readonly (keyof Deciding)[] = [
  "chunks",
  "shards",
  "match",
  "codec",
  "to",
  "keepFormats",
  "slice",
  "include",
  "exclude",
  "companions",
  "strict",
  "allowLoss",
  "strategy",
  "ifExists",
  "v2",
  "v1Order",
];

/** The options of a plan that its ledger records, as names and values to show. */
export function settingsOf(
  options: Deciding,
  {
    operation,
    source,
    target,
    conversions,
  }: {
    readonly operation: Plan["operation"];
    readonly source: ZarrNode;
    readonly target: NodeSpec;
    /** Conversions of array values, by path. */
    readonly conversions: ReadonlyMap<string, { readonly reading?: { readonly planned: PlannedConversion } }>;
  },
): Settings {
  const given = DECIDING.flatMap((name): [string, string][] => {
    // `--alone` stands for `companions: false`
    const value = name === "companions" ? options.companions === false || undefined : options[name];
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return value === undefined ? [] : [[`--${flagOf(name)}`, text]];
  });
  return Object.fromEntries([
    ["the command", operation],
    ["the source", [source.store.description, source.path].filter(Boolean).join(", ")],
    ["the path in the target", target.path],
    ...given,
    ...[...conversions].flatMap(([path, { reading }]) =>
      reading ? [[`the values of ${path || "the array"}`, JSON.stringify(reading.planned)]] : [],
    ),
  ]);
}
