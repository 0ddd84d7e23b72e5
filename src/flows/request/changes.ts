import { LABEL_OPTIONS, type LabelOptions } from "../../hierarchy/slice-labels.ts";
import type { SliceOption } from "../../hierarchy/slice-option.ts";
import type { ArrayMetadata, ChunkGrid, ZarrFormat } from "../../meta/array-metadata.ts";
import { askedCodecs, type CodecOption } from "../../meta/codec-option.ts";
import { type Axes, withAxes } from "../../meta/dimension-names.ts";
import { recoded } from "../../meta/recode.ts";
import { withoutShards, withShards } from "../../meta/reshard.ts";
import type { Selection } from "../../streams/selection.ts";
import type { OptionNames } from "../../util/check-options.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { lastName } from "../../util/node-path.ts";
import type { Change, SourceNode } from "../plan/hierarchy-request.ts";
import type { KeptChunks } from "../plan/plan.ts";
import type { ArrayConversion } from "../values/plan-conversion.ts";
import type { ArrayChanges } from "../values/value-changes.ts";
import {
  type ChunksInput,
  type ChunksOption,
  namesNothing,
  resolveChunks,
  resolveShards,
} from "./chunk-option.ts";
import { type DimensionMatch, type MeantChunks, meantOptions, type OpenedRoot } from "./chunk-selectors.ts";
import { describingArrays } from "./describing-arrays.ts";
import type { GroupArray } from "./dimension-lengths.ts";
import type { GroupSelections } from "./group-slice.ts";
import type { OtherRanges } from "./resolutions.ts";

/** What a flow changes on the way; what is not named stays as it is. */
export interface Changes extends LabelOptions {
  /**
   * The new chunk shape: by dimension name, in order, or as text (`time=744,lat=11`, `744,11,7`,
   * `t2m:time=-1,lat=16` for one array of a group, `s*:time=-1` for those that match a glob); -1 is the whole dimension.
   * Several texts add up.
   *
   * `auto` for a dimension takes as many items as make chunks of at most 16 MB, decoded. The text `auto`, or a number of
   * bytes such as `100MB`, gives every array chunks of at most that size: multiples of its chunk lengths, and parts of
   * these only where one chunk is larger, with all dimensions in about as many chunks.
   */
  readonly chunks?: ChunksOption | string | readonly string[] | undefined;
  /**
   * The shape of shards, each of whole chunks, given as `chunks` is; -1 is the whole dimension. `none`: no shards, as it
   * is where `chunks` alone are given. Arrays keep theirs by default. `auto` makes shards of at most 256 MB, decoded.
   */
  readonly shards?: ChunksOption | string | readonly string[] | undefined;
  /**
   * Which arrays of a group chunks and shards by dimension names mean: those that have all the named dimensions (`all`,
   * the default), or any, with the sizes of the dimensions that they have.
   */
  readonly match?: DimensionMatch | undefined;
  /**
   * What becomes of the values of arrays, by their names or globs: another data type, a `map` that computes them,
   * `unpack`, `pack`. `*` means all arrays of numbers but coordinates and what else belongs to others.
   */
  readonly arrays?: ArrayChanges | undefined;
  /**
   * The new compressor of the arrays that are rechunked, or of all where none is: `zstd:5`, `none`, JSON, or a codec; or all
   * of their filters, compressors and checksums in the order of encoding: `bitround:10,zstd:5`.
   */
  readonly codec?: CodecOption | undefined;
  /**
   * The part that is taken: ranges by dimension name, of an array also in order, or as text (`time=0:24,lat=10:20:2`, with
   * labels `time=2019-03,lat=45..50`). A dimension that an index is given for stays, with one item. Of a group, every array is cut
   * that has any of the dimensions, by its own coordinates where it is of another resolution; the others are taken whole. With an array, its coordinates and what else belongs to it
   * are cut alike; `sliceTo` writes it as a member of a group then.
   */
  readonly slice?: SliceOption | string | undefined;
  /**
   * Rejects a slice if a group, or an array that comes along, has another length along a dimension, and no coordinates that
   * say what to take (`invalid-selection`); by default it is taken whole, with a warning.
   */
  readonly strict?: boolean | undefined;
  /** The format to write. */
  readonly to?: ZarrFormat | undefined;
  /** JSON pointers, as a `loss-refused` names them, of what the new format may drop. */
  readonly allowLoss?: readonly string[] | undefined;
  /**
   * Writes the documents of a second format again, for the nodes that have documents of two (a group that was migrated from
   * v2 to v3 in place). By default they are left out, with a warning, as soon as any chunk changes.
   */
  readonly keepFormats?: boolean | undefined;
  /** Whether chunks and shards that leave the grid of every array as it is are refused (`invalid-option`). */
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

/** Whether anything is named that is to change. */
export function changesAnything({ chunks, shards, codec, arrays, slice, to }: Changes): boolean {
  return [chunks, shards, codec, arrays, slice, to].some((change) => change !== undefined);
}

type ChangeOf = (path: string, metadata: ArrayMetadata) => Change | undefined;

/** What was opened. */
export interface OpenedNodes {
  /** The node that was asked for; an array by its name, which its path does not tell where it is a root. */
  readonly root: OpenedRoot & { readonly name?: string };
  /** That and all below it; with an array, what comes along with it. */
  readonly nodes: readonly Pick<SourceNode, "path" | "metadata">[];
  /** Names of dimensions that are stated elsewhere than at the array, by its path. */
  readonly axes: Axes;
}

/** What becomes of the arrays of a node. */
export interface WantedChanges {
  readonly change: ChangeOf;
  /** Arrays that keep their chunks though they have some of the dimensions that were named. */
  readonly kept: readonly KeptChunks[];
}

/**
 * Returns what becomes of each array of a node that was opened; undefined for one that stays as it is.
 *
 * @param selections what is taken of each array, as `selectionsOf` says
 * @param conversions what becomes of the values of arrays, by path
 * @throws `invalid-option` for chunks and shards that fit no array, or change nothing where something must change.
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
 * What a slice by indices takes of the arrays that were opened, by path; nothing for those that are taken whole.
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

/** The arrays that changes are asked for: of an array that others come along with, that alone. */
function askedArrays(opened: OpenedNodes): GroupArray[] {
  const { kind, path: asked } = opened.root;
  return arraysOf(opened).filter(({ path }) => kind === "group" || path === asked);
}

/** The arrays that were opened, with the names that their dimensions are called by. */
function arraysOf({ nodes, axes }: OpenedNodes): GroupArray[] {
  return nodes.flatMap(({ path, metadata }) =>
    metadata.kind === "array" ? [{ path, metadata: withAxes(metadata, axes.get(path)) }] : [],
  );
}

/** An array of another shape; its chunks are no larger than it is, but for those that hold inner ones. */
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

/** What becomes of the codecs of the array at a path. */
type Recode = (metadata: ArrayMetadata, path: string) => ArrayMetadata;

/**
 * Replaces codecs of arrays by those that are asked for. Filters that look at values are for data: arrays that describe
 * others keep their codecs then.
 *
 * @param named path of an array that is asked for by its name, whatever it is
 * @throws `invalid-option` for what is not known, or does not fit
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
