import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { expectedItemSize } from "../../meta/data-type.ts";
import { dimensionMeant, dimensionNamed, withEqualsSigns } from "../../meta/dimension-names.ts";
import { wholeShards } from "../../meta/shards.ts";
import type { KeptChunks } from "../../plan/plan.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { globMatcher } from "../../util/glob.ts";
import { nearestName } from "../../util/names.ts";
import { belowPath, lastName } from "../../util/node-path.ts";
import { parseWholeNumber } from "../../util/numbers.ts";
import { divisorsOf, product } from "../../util/shape.ts";
import { parseBytes } from "../../util/units.ts";
import { type GroupArray, isDimensionCoordinate } from "./group-arrays.ts";

/**
 * Items of a chunk along one dimension: a number, -1 for the whole dimension, or `auto` for chunks of at most 16
 * MB.
 */
export type ChunkSize = number | "auto";

/**
 * A requested chunk shape: one size per dimension, or sizes by dimension name. Dimensions that are not named keep
 * their size.
 */
export type ChunksOption = readonly ChunkSize[] | Readonly<Record<string, ChunkSize>>;

/** Chunk shapes as options and flags give them: one for all arrays, or texts, which may name arrays. */
export type ChunksInput = ChunksOption | string | readonly string[];

/**
 * A parsed chunk request: sizes in order, sizes by dimension name, or decoded bytes (the default size if omitted).
 */
export type AskedChunks =
  | { readonly by: "order"; readonly sizes: readonly ChunkSize[] }
  | { readonly by: "name"; readonly sizes: Readonly<Record<string, ChunkSize>> }
  | { readonly by: "bytes"; readonly bytes?: number };

/** A chunk request for the arrays that a path or glob selects; without one, for all arrays that it fits. */
export interface ChunksRequest {
  readonly selector?: string;
  readonly asked: AskedChunks;
}

/** Decoded size of `auto` chunks and shards. */
const AUTO_CHUNK_BYTES = 16e6;
const AUTO_SHARD_BYTES = 256e6;

/**
 * Parses `time=744,lat=11`, `744,11,7`, `auto`, `100MB`, and the same for an array or a glob: `t2m:time=-1,lat=16`.
 *
 * @throws `invalid-option` saying what is valid.
 */
export function parseChunks(text: string): ChunksRequest {
  const [, selector, sizes = ""] = /^(?:((?:\{[^{}:=]*\}|[^{}:=,])+):)?(.*)$/.exec(text.trim()) ?? [];
  return { ...(selector !== undefined && { selector }), asked: parseAsked(sizes, text) };
}

/** Converts chunk sizes given as an object or a list. */
export function askedChunks(option: ChunksOption): AskedChunks {
  return Array.isArray(option)
    ? { by: "order", sizes: option }
    : { by: "name", sizes: option as Readonly<Record<string, ChunkSize>> };
}

/** True if no dimension is named, so that every array keeps its chunks. */
export function namesNothing(asked: AskedChunks): boolean {
  return asked.by === "name" && Object.keys(asked.sizes).length === 0;
}

const BYTES = /^\d+(?:\.\d+)?\s*[a-z]+$/i;

function parseAsked(sizes: string, text: string): AskedChunks {
  if (sizes.trim() === "auto") return { by: "bytes" };
  if (BYTES.test(sizes.trim())) return { by: "bytes", bytes: positiveBytes(sizes.trim()) };
  const parts = sizes.split(",").map((part) => part.trim());
  if (parts.some((part) => part.includes("="))) return { by: "name", sizes: namedSizes(parts, text) };
  return { by: "order", sizes: parts.map((part) => size(part, text)) };
}

function positiveBytes(text: string): number {
  const bytes = parseBytes(text);
  if (bytes >= 1) return bytes;
  throw invalid(`chunks cannot be of ${text}`);
}

function namedSizes(parts: readonly string[], text: string): Record<string, ChunkSize> {
  const sizes = new Map<string, ChunkSize>();
  for (const part of parts) {
    const at = part.lastIndexOf("=");
    if (at < 1) throw invalid(`\`${part}\` in \`${text}\` has no dimension name`, { text });
    const name = part.slice(0, at).trim();
    if (sizes.has(name)) throw invalid(`\`${name}\` is given twice in \`${text}\``);
    sizes.set(name, size(part.slice(at + 1).trim(), text));
  }
  return Object.fromEntries(sizes);
}

function size(part: string, text: string): ChunkSize {
  if (part === "auto") return part;
  const number = parseWholeNumber(part);
  if (number === undefined) throw invalid(`\`${part}\` in \`${text}\` is not a whole number`, { text });
  return number;
}

/**
 * Computes the requested chunk shape of an array without shards. @throws `invalid-option` for a wrong rank, name or
 * size.
 */
export function resolveChunks(asked: AskedChunks, metadata: ArrayMetadata, path: string): number[] {
  const { shape, chunkGrid, dimensionNames } = metadata;
  const sizes = sizesOf(asked, metadata, { path, others: chunkGrid.chunkShape });
  const lengths = sizes.map((size, d) => {
    if (size === "auto") return size;
    if (size === -1) return Math.max(1, shape[d] ?? 1);
    if (Number.isSafeInteger(size) && size >= 1) return size;
    throw invalid(`a chunk cannot have ${size} items along dimension ${dimensionNames?.[d] ?? d}`, { path });
  });
  return chosenLengths(lengths, metadata, { bytes: bytesOf(asked, AUTO_CHUNK_BYTES), mayDivide: true });
}

/**
 * Computes the requested shard shape of an array that has its new chunks, but no shards yet. -1 is the whole
 * dimension, rounded up to whole chunks. Dimensions that are not named keep the shard size of `before`, or get one
 * chunk.
 *
 * @throws `invalid-option` for a wrong rank, name or size.
 */
export function resolveShards(
  asked: AskedChunks,
  metadata: ArrayMetadata,
  { path, before }: { readonly path: string; readonly before: readonly number[] | undefined },
): number[] {
  const sizes = sizesOf(asked, metadata, { path, others: before ?? metadata.chunkGrid.chunkShape });
  const given = wholeShards(
    sizes.map((size) => (size === "auto" ? 1 : size)),
    metadata,
  );
  const lengths = sizes.map((size, d) => (size === "auto" ? size : (given[d] ?? 1)));
  return chosenLengths(lengths, metadata, { bytes: bytesOf(asked, AUTO_SHARD_BYTES), mayDivide: false });
}

function bytesOf(asked: AskedChunks, usual: number): number {
  return (asked.by === "bytes" ? asked.bytes : undefined) ?? usual;
}

/** Replaces each `auto` by a length. */
function chosenLengths(
  lengths: readonly ChunkSize[],
  { shape, chunkGrid, dataType }: ArrayMetadata,
  { bytes, mayDivide }: { readonly bytes: number; readonly mayDivide: boolean },
): number[] {
  const itemBytes = Math.max(1, expectedItemSize(dataType));
  return autoChunks({
    shape,
    units: chunkGrid.chunkShape,
    given: lengths.map((length) => (length === "auto" ? undefined : length)),
    maxItems: Math.max(1, Math.floor(bytes / itemBytes)),
    mayDivide,
  });
}

/** Returns one size per dimension. */
function sizesOf(
  asked: AskedChunks,
  { shape, dimensionNames = [] }: ArrayMetadata,
  { path, others }: { readonly path: string; readonly others: readonly number[] },
): readonly ChunkSize[] {
  if (asked.by === "bytes") return shape.map(() => "auto");
  if (asked.by === "order") {
    if (asked.sizes.length === shape.length) return asked.sizes;
    throw invalid(
      `${asked.sizes.length} chunk sizes for an array of ${shape.length} dimensions (${shape.join(", ")})`,
      { path },
    );
  }
  const sizes: ChunkSize[] = [...others];
  for (const [name, size] of Object.entries(asked.sizes))
    sizes[dimensionNamed(name, dimensionNames, path)] = size;
  return sizes;
}

function invalid(
  reason: string,
  { path, text }: { readonly path?: string; readonly text?: string } = {},
): ZarrflowError {
  const meant = text && withEqualsSigns(text);
  return new ZarrflowError("invalid-option", reason, {
    ...(path !== undefined && { path }),
    hint: meant
      ? `Did you mean \`${meant}\`?`
      : "Write time=744,lat=11,lon=7 or 744,11,7; -1 is the whole dimension, auto the size that gives chunks of 16MB. A chunk size such as 100MB stands alone.",
  });
}

/** Input of `autoChunks`. */
export interface AutoChunks {
  readonly shape: readonly number[];
  /**
   * Chunk lengths to merge, or to divide if they are too large: of the source's chunks, or of the chunks of a
   * shard.
   */
  readonly units: readonly number[];
  /** Lengths that are fixed; undefined for dimensions whose length is chosen here. */
  readonly given: readonly (number | undefined)[];
  /** Maximum items per chunk. Fixed lengths, or units that may not be divided, can exceed it. */
  readonly maxItems: number;
  /** True if units may be divided. Shards consist of whole chunks, so theirs may not. */
  readonly mayDivide: boolean;
}

/**
 * Computes the largest chunks of at most `maxItems` items, with about the same number of chunks along every chosen
 * dimension. A chosen length is a multiple of its unit, or the whole dimension. Units are divided only if a chunk
 * of one unit each exceeds `maxItems`; a length then divides its unit if some divisor is at least half of the
 * longest possible length.
 */
export function autoChunks({ shape, units, given, maxItems, mayDivide }: AutoChunks): number[] {
  const axes = shape.map((items, d): Axis => {
    const length = Math.max(1, items);
    const unit = Math.min(units[d] ?? 1, mayDivide ? length : Number.POSITIVE_INFINITY);
    return { unit, whole: mayDivide ? length : Math.ceil(length / unit) * unit };
  });
  const lengthsAt = (lengthOf: (axis: Axis) => number) =>
    axes.map((axis, d) => given[d] ?? Math.max(1, lengthOf(axis)));
  const smallest = lengthsAt(({ unit }) => unit);
  const isDivided = product(smallest) > maxItems;
  if (isDivided && !mayDivide) return smallest;
  const longest = isDivided ? dividing(axes) : multiplying;

  const inChunks = (count: number) => lengthsAt((axis) => longest(axis, axis.whole / count));
  const fits = (count: number) => product(inChunks(count)) <= maxItems;
  const lengths = inChunks(fewest(fits, Math.max(1, ...axes.map(({ whole }) => whole))));
  const byChunks = axes.flatMap((axis, d) => (given[d] === undefined ? [{ axis, d }] : []));
  byChunks.sort((a, b) => b.axis.whole / (lengths[b.d] ?? 1) - a.axis.whole / (lengths[a.d] ?? 1));
  for (const { axis, d } of byChunks) {
    const others = product(lengths.toSpliced(d, 1));
    lengths[d] = Math.max(lengths[d] ?? 1, longest(axis, Math.floor(maxItems / others)));
  }
  return lengths;
}

interface Axis {
  readonly unit: number;
  /** Length of a single chunk that covers the dimension. */
  readonly whole: number;
}

type LongestWithin = (axis: Axis, most: number) => number;

/** Returns the longest multiple of the unit within `most`, or the whole dimension; at least one unit. */
function multiplying({ unit, whole }: Axis, most: number): number {
  return most >= whole ? whole : Math.max(unit, Math.floor(most / unit) * unit);
}

/** Longer units are not factorized: untrusted metadata could make that arbitrarily slow. */
const MAX_FACTORIZED = 2 ** 32;

/**
 * Returns the longest part of the unit within `most`: a divisor, unless the largest that fits is less than half of
 * `most`.
 */
function dividing(axes: readonly Axis[]): LongestWithin {
  const divisors = new Map(axes.map(({ unit }) => [unit, unit <= MAX_FACTORIZED ? divisorsOf(unit) : []]));
  return ({ unit }, most) => {
    if (most >= unit) return unit;
    const divisor = divisors.get(unit)?.findLast((one) => one <= most) ?? 1;
    return divisor * 2 >= most ? divisor : Math.floor(most);
  };
}

/**
 * Returns about the smallest number from 1 to `most` that meets a condition, which must then hold for all larger
 * ones.
 */
function fewest(holds: (count: number) => boolean, most: number): number {
  if (holds(1)) return 1;
  let [low, high] = [1, most];
  for (let i = 0; i < 64 && high / low > 1 + 1e-9; i++) {
    const middle = Math.sqrt(low * high);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The opened node that arrays are selected below. */
export interface OpenedRoot {
  readonly path: string;
  readonly kind: "array" | "group";
}

/** The arrays of a group that dimension names apply to: those that have all of the names, or any. */
export type DimensionMatch = "all" | "any";

/**
 * The chunk request of each array, and the arrays that keep their chunks although they have some of the dimensions.
 */
export interface MeantChunks {
  readonly options: ReadonlyMap<string, AskedChunks>;
  readonly kept: readonly KeptChunks[];
}

/**
 * Finds the arrays that chunk requests apply to, by path. A request for one array overrides those for globs, which
 * override a request for all arrays.
 *
 * @throws `invalid-option` for a selector that matches no array, or that names a coordinate where its dimension is
 * probably meant.
 */
export function meantOptions(
  input: ChunksInput,
  arrays: readonly GroupArray[],
  root: OpenedRoot,
  match: DimensionMatch = "all",
): MeantChunks {
  const options = new Map<string, AskedChunks>();
  const kept = new Map<string, KeptChunks>();
  const among = (those: readonly GroupArray[], asked: AskedChunks) => {
    const meant = those.filter((array) => isMeant(asked, array, match));
    for (const { path, metadata } of meant) options.set(path, fitting(asked, metadata));
    for (const one of those.flatMap((array) => partlyNamed(asked, array))) kept.set(one.path, one);
    return meant.length;
  };
  const { all, selected } = chunksRequests(input);
  if (all && root.kind === "array") for (const { path } of arrays) options.set(path, all);
  else if (all) {
    assertNamed(all);
    if (among(arrays, all) === 0) throw nothingMeant(all, arrays);
  }
  const byPath: [string, AskedChunks][] = [];
  for (const { selector, asked } of selected) {
    const path = [root.path, selector].filter(Boolean).join("/");
    const named = arrays.find((candidate) => candidate.path === path);
    if (named) {
      if (isLikelyDimension(named, asked, arrays)) throw coordinateOrDimension(selector, asked);
      byPath.push([path, asked]);
      continue;
    }
    const matches = isPattern(selector) && root.kind === "group" ? globMatcher(selector) : () => false;
    const matching = arrays.filter((array) => matches(belowPath(root.path, array.path)));
    if (matching.length === 0) throw noArray({ name: selector, asked }, arrays, root);
    if (among(matching, asked) === 0) throw nothingMeant(asked, matching, selector);
  }
  for (const [path, asked] of byPath) options.set(path, asked);
  return { options, kept: [...kept.values()].filter(({ path }) => !options.has(path)) };
}

interface ChunksRequests {
  readonly all?: AskedChunks;
  readonly selected: readonly Required<ChunksRequest>[];
}

function chunksRequests(chunks: ChunksInput): ChunksRequests {
  const texts = typeof chunks === "string" ? [chunks] : isTexts(chunks) ? chunks : undefined;
  if (texts === undefined)
    return { all: askedChunks(chunks as Exclude<ChunksInput, string | readonly string[]>), selected: [] };
  const parsed = texts.map(parseChunks);
  const all = parsed.filter(({ selector }) => selector === undefined);
  if (all.length > 1) {
    throw invalidSelector(
      "chunks for all arrays are given more than once",
      "Combine them (time=744,lat=11), or name the array that the others are for (t2m:time=-1).",
    );
  }
  const selected = parsed.flatMap(({ selector, asked }) =>
    selector === undefined ? [] : [{ selector, asked }],
  );
  return { ...(all[0] && { all: all[0].asked }), selected };
}

function isTexts(chunks: ChunksInput): chunks is readonly string[] {
  return Array.isArray(chunks) && chunks.length > 0 && chunks.every((chunk) => typeof chunk === "string");
}

function isPattern(selector: string): boolean {
  return /[*?[{\\]/.test(selector);
}

function assertNamed(asked: AskedChunks): void {
  if (asked.by !== "order") return;
  throw invalidSelector(
    "sizes for a group need dimension names or an array name",
    "Name the dimensions (time=744,lat=11) or the array (t2m:744,11,7).",
  );
}

/**
 * True if a request applies to an array that it does not name by path. Sizes by name need an array with these
 * dimensions that is not their coordinate; sizes in order need the same rank; bytes fit any array.
 */
function isMeant(asked: AskedChunks, array: GroupArray, match: DimensionMatch): boolean {
  if (asked.by === "bytes") return true;
  if (asked.by === "order") return asked.sizes.length === array.metadata.shape.length;
  if (isDimensionCoordinate(array)) return false;
  const names = Object.keys(asked.sizes);
  const has = (name: string) => array.metadata.dimensionNames?.includes(name) === true;
  return match === "all" || names.length === 0 ? names.every(has) : names.some(has);
}

/** The part of a request that concerns the dimensions of an array. */
function fitting(asked: AskedChunks, { dimensionNames = [] }: ArrayMetadata): AskedChunks {
  if (asked.by !== "name") return asked;
  const own = Object.entries(asked.sizes).filter(([name]) => dimensionNames.includes(name));
  return { by: "name", sizes: Object.fromEntries(own) };
}

function partlyNamed(asked: AskedChunks, array: GroupArray): KeptChunks[] {
  if (asked.by !== "name" || isDimensionCoordinate(array)) return [];
  const { dimensionNames = [] } = array.metadata;
  const names = Object.keys(asked.sizes);
  const has = names.filter((name) => dimensionNames.includes(name));
  const lacks = names.filter((name) => !has.includes(name));
  return has.length > 0 && lacks.length > 0 ? [{ path: array.path, has, lacks }] : [];
}

function nothingMeant(asked: AskedChunks, arrays: readonly GroupArray[], selector?: string): ZarrflowError {
  const those = selector === undefined ? "no array of the group" : `no array that \`${selector}\` matches`;
  if (asked.by !== "name")
    return invalidSelector(
      `${those} has ${asked.by === "order" ? asked.sizes.length : "such"} dimensions`,
      "Give one size per dimension of the arrays.",
    );
  const names = Object.keys(asked.sizes);
  const known = dimensionsOf(arrays);
  const stranger = names.find((name) => !known.includes(name));
  const reason = `${those} has the dimensions ${names.join(", ")}`;
  if (stranger === undefined && names.length > 1)
    return invalidSelector(
      reason,
      'Use --match any (in code match: "any") for arrays that have at least one of them.',
    );
  const whose = selector === undefined ? "The group's" : "The arrays'";
  return invalidSelector(reason, dimensionMeant(stranger ?? "", arrays, whose));
}

function noArray(
  { name, asked }: { readonly name: string; readonly asked: AskedChunks },
  arrays: readonly GroupArray[],
  root: OpenedRoot,
): ZarrflowError {
  const isDimension = dimensionsOf(arrays).includes(name);
  const meant = isDimension && asked.by === "order" ? `${name}=${asked.sizes}` : undefined;
  if (root.kind === "array") {
    const reason = `\`${name}:\` names an array of a group, but the source is a single array`;
    return invalidSelector(reason, "Give only the sizes.", meant);
  }
  const paths = arrays.map(({ path }) => belowPath(root.path, path));
  const near = meant ?? nearestName(name, paths);
  return invalidSelector(
    `the group has no array \`${name}\``,
    `Its arrays are ${paths.join(", ") || "none"}.`,
    near,
  );
}

/**
 * True if a named array is the coordinate of a dimension that other arrays have too: `time:-1` may stand for
 * `time=-1`.
 */
function isLikelyDimension(array: GroupArray, asked: AskedChunks, arrays: readonly GroupArray[]): boolean {
  if (asked.by !== "order" || !isDimensionCoordinate(array)) return false;
  const name = lastName(array.path);
  return arrays.some((other) => other.path !== array.path && other.metadata.dimensionNames?.includes(name));
}

function coordinateOrDimension(path: string, asked: AskedChunks): ZarrflowError {
  const size = asked.by === "order" ? asked.sizes : "";
  const dimension = `${lastName(path)}=${size}`;
  return invalidSelector(
    `\`${path}:${size}\` names only the array \`${path}\`, which is a coordinate; the dimension has the same name`,
    `Write \`${dimension}\` for the dimension, or \`${path}:${dimension}\` for only that array.`,
  );
}

function dimensionsOf(arrays: readonly GroupArray[]): string[] {
  const names = new Set(arrays.flatMap(({ metadata }) => metadata.dimensionNames ?? []));
  return [...names].filter((name) => name !== null);
}

function invalidSelector(reason: string, hint: string, meant?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, {
    hint: meant === undefined ? hint : `Did you mean \`${meant}\`?`,
  });
}
