import type { SliceOption } from "../../hierarchy/slice-option.ts";
import type { ArrayMetadata, ChunkGrid } from "../../meta/array-metadata.ts";
import { askedCodecs, type CodecOption } from "../../meta/codec-option.ts";
import { type Axes, withAxes } from "../../meta/dimension-names.ts";
import { isNumber } from "../../meta/number-kinds.ts";
import { recoded } from "../../meta/recode.ts";
import { withoutShards, withShards } from "../../meta/shards.ts";
import type { KeptChunks } from "../../plan/plan.ts";
import type { Change, ConvertedReading, SourceNode } from "../../plan/request.ts";
import type { Selection } from "../../streams/selection.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { globMatcher } from "../../util/glob.ts";
import { nearestName } from "../../util/names.ts";
import { belowPath, lastName } from "../../util/node-path.ts";
import {
  assertKnown,
  assertRules,
  checkedOptions,
  invalidOption,
  isObject,
  type OptionNames,
  oneOf,
  withoutEffect,
} from "../../util/options.ts";
import {
  type ChunksInput,
  type MeantChunks,
  meantOptions,
  namesNothing,
  type OpenedRoot,
  resolveChunks,
  resolveShards,
} from "./chunk-option.ts";
import {
  type ArrayChanges,
  type Changes,
  type PackOption,
  VALUE_CHANGES,
  type ValueChanges,
} from "./flow-options.ts";
import { describingArrays, type GroupArray } from "./group-arrays.ts";
import type { GroupSelections } from "./group-slice.ts";
import type { OtherRanges } from "./image-slice.ts";

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
    hint: `Every selected array already has them. Omit ${asked.map((name) => `--${name}`).join(" and ")}; \`zarrflow copy\` copies without them.`,
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

/** Planned conversion of the values of an array. */
export interface ArrayConversion {
  /** How the array is read; absent if its values stay as stored. */
  readonly reading?: ConvertedReading;
  /** Converts metadata of the array, or of a part of it, in the target's format. */
  readonly convert: (metadata: ArrayMetadata) => ArrayMetadata;
  /** Filters that are removed because they compute with values of the old type. */
  readonly filtersLeftOut?: readonly string[];
}

const PACK_OPTION: OptionNames<Exclude<PackOption, string>> = { dataType: true, scale: true, offset: true };

const isRecord = (value: unknown) => isObject(value) && !Array.isArray(value);

/** @throws `invalid-option` for unknown options, and for option values of a wrong type */
function checkedChanges(changes: ValueChanges): ValueChanges {
  const checked = checkedOptions(changes, VALUE_CHANGES);
  const { unpack, pack, attributes, overflow } = checked;
  assertRules(
    { unpack, pack, attributes, overflow },
    {
      unpack: { expected: "true or false", holds: (value) => typeof value === "boolean" },
      pack: {
        expected: "a type such as int16, or an object such as { dataType, scale, offset }",
        holds: (value) => typeof value === "string" || isRecord(value),
      },
      attributes: { expected: 'an object such as { units: "degC" }', holds: isRecord },
      overflow: oneOf("error", "clamp"),
    },
  );
  if (typeof pack === "object") assertKnown(pack, PACK_OPTION, "member");
  return checked;
}

/** Requested changes of the values of an array. */
export interface AskedValues extends ValueChanges {
  /** True if the array was named, so that an impossible change is an error. */
  readonly isNamed: boolean;
}

/**
 * Requested changes of each array, by path.
 *
 * @param root path of the opened node
 * @param name name of the opened node, if it is an array
 * @throws `invalid-option` for a name or glob that matches no array, and for unknown options
 */
export function valuesAsked(
  option: ArrayChanges,
  arrays: readonly GroupArray[],
  root: { readonly path: string; readonly kind: "array" | "group"; readonly name?: string },
): ReadonlyMap<string, AskedValues> {
  if (!isRecord(option))
    throw invalidOption(
      "invalid value for the option `arrays`",
      "an object whose members are names or globs of arrays",
      option,
    );
  const asked = new Map<string, AskedValues>();
  const describing = describingArrays(arrays);
  const nameOf = ({ path }: GroupArray) =>
    root.kind === "array" ? (root.name ?? lastName(path)) : belowPath(root.path, path);
  const entries = Object.entries(option).map(([selector, changes]) => {
    const checked = checkedChanges(changes);
    const named = arrays.filter((array) => nameOf(array) === selector);
    return { selector, changes: checked, named };
  });
  const rank = ({ selector, named }: (typeof entries)[number]) =>
    named.length > 0 ? 2 : selector === "*" ? 0 : 1;
  for (const entry of entries.toSorted((a, b) => rank(a) - rank(b))) {
    const { selector, changes, named } = entry;
    const matches = named.length > 0 ? undefined : globMatcher(selector);
    const matched = matches ? arrays.filter((array) => matches(nameOf(array))) : named;
    const isNamed = root.kind === "array" || !matches;
    const meant = isNamed
      ? matched
      : matched.filter((array) => !describing.has(array.path) && isOfNumbers(array));
    if (meant.length === 0) throw noneMeant(selector, matched, arrays.map(nameOf));
    for (const { path } of meant) asked.set(path, { ...asked.get(path), ...changes, isNamed });
  }
  const all = [...asked.values()];
  if (all.some(({ overflow }) => overflow === "clamp") && !all.some(mayOverflow))
    throw withoutEffect({ option: "overflow" }, "no value changes");
  return asked;
}

function mayOverflow({ dataType, map, pack }: ValueChanges): boolean {
  return [dataType, map, pack].some((change) => change !== undefined);
}

function noneMeant(
  selector: string,
  matched: readonly GroupArray[],
  names: readonly string[],
): ZarrflowError {
  if (matched.length > 0) {
    return new ZarrflowError(
      "invalid-option",
      `\`${selector}\` matches only coordinates, arrays that others refer to, and arrays without numbers`,
      { hint: "To change such an array anyway, give its exact name." },
    );
  }
  const near = nearestName(selector, names);
  return new ZarrflowError("invalid-option", `\`arrays\` names \`${selector}\`, but there is no such array`, {
    hint: near ? `Did you mean \`${near}\`?` : `The arrays are ${names.join(", ") || "none"}.`,
  });
}

function isOfNumbers({ metadata: { dataType } }: GroupArray): boolean {
  return isNumber(dataType) && !("unit" in dataType);
}
