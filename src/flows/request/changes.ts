import { LABEL_OPTIONS, type LabelOptions, type SliceOption } from "../../hierarchy/slice-option.ts";
import type { ArrayMetadata, ChunkGrid, ZarrFormat } from "../../meta/array-metadata.ts";
import { askedCodecs, type CodecOption } from "../../meta/codec-option.ts";
import { type Axes, withAxes } from "../../meta/dimension-names.ts";
import { recoded } from "../../meta/recode.ts";
import { withoutShards, withShards } from "../../meta/shards.ts";
import type { KeptChunks } from "../../plan/plan.ts";
import type { Change, SourceNode } from "../../plan/request.ts";
import type { Selection } from "../../streams/selection.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { lastName } from "../../util/node-path.ts";
import type { OptionNames } from "../../util/options.ts";
import {
  type ChunksInput,
  type ChunksOption,
  namesNothing,
  resolveChunks,
  resolveShards,
} from "./chunk-option.ts";
import { type DimensionMatch, type MeantChunks, meantOptions, type OpenedRoot } from "./chunk-selectors.ts";
import { describingArrays, type GroupArray } from "./group-arrays.ts";
import type { GroupSelections } from "./group-slice.ts";
import type { OtherRanges } from "./image-slice.ts";
import type { ArrayConversion } from "./plan-conversion.ts";
import type { ArrayChanges } from "./value-changes.ts";

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

/** True if any change is requested. */
export function changesAnything({ chunks, shards, codec, arrays, slice, to }: Changes): boolean {
  return [chunks, shards, codec, arrays, slice, to].some((change) => change !== undefined);
}

type ChangeOf = (path: string, metadata: ArrayMetadata) => Change | undefined;

export interface OpenedNodes {
  /** The requested node. Arrays carry a name, because the path of a root array is empty. */
  readonly root: OpenedRoot & { readonly name?: string };
  /** The root and all nodes below it; for a single array, also the arrays that describe it. */
  readonly nodes: readonly Pick<SourceNode, "path" | "metadata">[];
  /** Dimension names that are stated outside the array's own metadata, by array path. */
  readonly axes: Axes;
}

/** The changes to the arrays of a node. */
export interface WantedChanges {
  readonly change: ChangeOf;
  /** Arrays that keep their chunks although they have some of the named dimensions. */
  readonly kept: readonly KeptChunks[];
}

/**
 * Returns a function that gives the change of each opened array; undefined for an unchanged one.
 *
 * @param selections the selected part of each array, from `selectionsOf`
 * @param conversions conversions of array values, by path
 * @throws `invalid-option` for chunks and shards that fit no array, or that change nothing although `mustChange` is
 * set.
 */
export function changeOf(
  changes: Changes,
  opened: OpenedNodes,
  selections: ReadonlyMap<string, Selection>,
  conversions: ReadonlyMap<string, ArrayConversion>,
): WantedChanges {
  const wanted = anyChangeOf(changes, opened, selections, conversions);
  if (changes.mustChange) assertGridsChange(changes, wanted.change, askedArrays(opened));
  return wanted;
}

function assertGridsChange(
  { chunks, shards }: Changes,
  change: ChangeOf,
  arrays: readonly GroupArray[],
): void {
  const asked = [
    chunks !== undefined && !isEmpty(chunks) && "chunks",
    shards !== undefined && "shards",
  ].filter((name) => name !== false);
  const changesGrid = ({ path, metadata }: GroupArray) => {
    const changed = change(path, metadata);
    return changed !== undefined && !isSameGrid(changed.metadata.chunkGrid, metadata.chunkGrid);
  };
  if (asked.length === 0 || arrays.some(changesGrid)) return;
  throw new ZarrflowError("invalid-option", `the ${asked.join(" and ")} do not change any array`, {
    hint: `Every selected array has them already. Omit ${asked.map((name) => `--${name}`).join(" and ")}; \`zarrflow copy\` copies without them.`,
  });
}

function isSameGrid(a: ChunkGrid, b: ChunkGrid): boolean {
  return `${a.chunkShape}` === `${b.chunkShape}` && `${a.innerChunkShape}` === `${b.innerChunkShape}`;
}

function anyChangeOf(
  changes: Changes,
  opened: OpenedNodes,
  selections: ReadonlyMap<string, Selection>,
  conversions: ReadonlyMap<string, ArrayConversion>,
): WantedChanges {
  const begun = ({ path, metadata }: GroupArray) => {
    const selection = selections.get(path);
    const cut = selection ? partOf(metadata, selection.shape) : metadata;
    return conversions.get(path)?.convert(cut) ?? cut;
  };
  const arrays = askedArrays(opened).map((array) => ({ ...array, metadata: begun(array) }));
  const { change, kept } = changeWhole(changes, opened, arrays);
  const changeBegun: ChangeOf = (path, whole) => {
    const selection = selections.get(path);
    const conversion = conversions.get(path);
    const metadata = begun({ path, metadata: whole });
    const changed = change(path, metadata);
    if (selection === undefined && conversion === undefined) return changed;
    return {
      metadata,
      ...changed,
      ...(selection && { selection }),
      ...(conversion?.reading && { reading: conversion.reading }),
    };
  };
  return { change: changeBegun, kept };
}

/**
 * Resolves a slice by indices to selections, by array path. Arrays that are taken whole have no entry.
 *
 * @param others ranges of arrays in other resolutions
 * @throws `invalid-selection`, `invalid-option`, as `resolveSlice` and `sliceGroup`.
 */
export async function selectionsOf(
  option: SliceOption | undefined,
  opened: OpenedNodes,
  others: OtherRanges,
): Promise<GroupSelections> {
  const nothing = { selections: new Map(), turns: new Map(), takenWhole: [] };
  if (option === undefined) return nothing;
  const { sliceGroup, sliceWithCompanions } = await import("./group-slice.ts");
  const arrays = arraysOf(opened);
  if (opened.root.kind === "group") return sliceGroup(option, arrays, { nodes: opened.nodes, others });
  const [array, ...companions] = arrays.toSorted((a) => (a.path === opened.root.path ? -1 : 1));
  if (array === undefined) return nothing;
  return sliceWithCompanions(
    option,
    { ...array, name: opened.root.name ?? lastName(array.path) },
    companions,
  );
}

/**
 * The arrays that the options apply to: all arrays of a group, or the requested array without those that describe
 * it.
 */
function askedArrays(opened: OpenedNodes): GroupArray[] {
  const { kind, path: asked } = opened.root;
  return arraysOf(opened).filter(({ path }) => kind === "group" || path === asked);
}

/** The opened arrays with their dimension names. */
function arraysOf({ nodes, axes }: OpenedNodes): GroupArray[] {
  return nodes.flatMap(({ path, metadata }) =>
    metadata.kind === "array" ? [{ path, metadata: withAxes(metadata, axes.get(path)) }] : [],
  );
}

/** Gives an array another shape. Its chunks are shortened to fit, unless they are shards. */
function partOf(metadata: ArrayMetadata, shape: readonly number[]): ArrayMetadata {
  const { chunkGrid } = metadata;
  if (chunkGrid.innerChunkShape) return { ...metadata, shape };
  const chunkShape = chunkGrid.chunkShape.map((size, d) => Math.min(size, Math.max(1, shape[d] ?? 1)));
  return { ...metadata, shape, chunkGrid: { chunkShape } };
}

function changeWhole(
  { chunks, shards, match, codec }: Changes,
  opened: OpenedNodes,
  arrays: readonly GroupArray[],
): WantedChanges {
  const { root, axes } = opened;
  const named = root.kind === "array" ? root.path : undefined;
  const recode =
    codec === undefined ? (metadata: ArrayMetadata) => metadata : recodeTo(codec, arraysOf(opened), named);
  if (chunks === undefined && shards === undefined) {
    const change: ChangeOf = (path, metadata) =>
      codec === undefined ? undefined : { metadata: recode(metadata, path) };
    return { change, kept: [] };
  }
  const isUnsharded = `${shards}` === "none";
  const meant = (option: ChunksInput | undefined) =>
    option === undefined ? NOTHING_MEANT : meantOptions(option, arrays, root, match);
  const inChunks = meant(chunks);
  const inShards = meant(isUnsharded ? undefined : shards);
  const change: ChangeOf = (path, metadata) => {
    const chunkOption = inChunks.options.get(path);
    const shardOption = inShards.options.get(path);
    if (chunkOption === undefined && shardOption === undefined && !isUnsharded) return undefined;
    const isKept = chunkOption === undefined || namesNothing(chunkOption);
    if (isKept && shardOption === undefined && !isUnsharded) return { metadata: recode(metadata, path) };
    const before = metadata.chunkGrid.innerChunkShape && metadata.chunkGrid.chunkShape;
    const plain = withoutShards(metadata);
    const named = (one: ArrayMetadata) => withAxes(one, axes.get(path));
    const regridded = isKept
      ? plain
      : { ...plain, chunkGrid: { chunkShape: resolveChunks(chunkOption, named(plain), path) } };
    const wanted = recode(regridded, path);
    if (shardOption === undefined) return { metadata: wanted };
    return { metadata: withShards(wanted, resolveShards(shardOption, named(wanted), { path, before })) };
  };
  return { change, kept: inChunks.kept.length > 0 ? inChunks.kept : inShards.kept };
}

const NOTHING_MEANT: MeantChunks = { options: new Map(), kept: [] };

function isEmpty(option: ChunksInput): boolean {
  return typeof option === "object" && !Array.isArray(option) && Object.keys(option).length === 0;
}

/** Replaces the codecs of the array at a path. */
type Recode = (metadata: ArrayMetadata, path: string) => ArrayMetadata;

/**
 * Replaces the codecs of arrays by the requested ones. Codecs that depend on values apply to data only: arrays that
 * describe others then keep their codecs.
 *
 * @param named path of an array that was requested by name, and is always recoded
 * @throws `invalid-option` for codecs that are unknown or do not fit
 */
export function recodeTo(codec: CodecOption, arrays: readonly GroupArray[], named?: string): Recode {
  const asked = askedCodecs(codec);
  const describing = asked.looksAtValues ? describingArrays(arrays) : new Set();
  return (metadata, path) => {
    if (describing.has(path) && path !== named) return metadata;
    try {
      return { ...metadata, codecs: recoded(metadata, asked) };
    } catch (error) {
      throw isZarrflowError(error) ? error.addContext({ path }) : error;
    }
  };
}
