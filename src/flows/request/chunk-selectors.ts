import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { dimensionMeant } from "../../meta/dimension-names.ts";
import type { KeptChunks } from "../../plan/plan.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { globMatcher } from "../../util/glob.ts";
import { nearestName } from "../../util/names.ts";
import { belowPath, lastName } from "../../util/node-path.ts";
import {
  type AskedChunks,
  askedChunks,
  type ChunksInput,
  type ChunksRequest,
  parseChunks,
} from "./chunk-option.ts";
import { type GroupArray, isDimensionCoordinate } from "./group-arrays.ts";

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
    throw invalid(
      "chunks for all arrays are given more than once",
      "Put them into one (time=744,lat=11), or name the array for others (t2m:time=-1).",
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
  throw invalid(
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
    return invalid(
      `${those} has ${asked.by === "order" ? asked.sizes.length : "such"} dimensions`,
      "Give as many sizes as the arrays have dimensions.",
    );
  const names = Object.keys(asked.sizes);
  const known = dimensionsOf(arrays);
  const stranger = names.find((name) => !known.includes(name));
  const reason = `${those} has the dimensions ${names.join(", ")}`;
  if (stranger === undefined && names.length > 1)
    return invalid(reason, 'With --match any (in code match: "any") those that have one of them are meant.');
  const whose = selector === undefined ? "The group's" : "The arrays'";
  return invalid(reason, dimensionMeant(stranger ?? "", arrays, whose));
}

function noArray(
  { name, asked }: { readonly name: string; readonly asked: AskedChunks },
  arrays: readonly GroupArray[],
  root: OpenedRoot,
): ZarrflowError {
  const isDimension = dimensionsOf(arrays).includes(name);
  const meant = isDimension && asked.by === "order" ? `${name}=${asked.sizes}` : undefined;
  if (root.kind === "array") {
    const reason = `\`${name}:\` names an array of a group, but the source is one array`;
    return invalid(reason, "Give only the sizes.", meant);
  }
  const paths = arrays.map(({ path }) => belowPath(root.path, path));
  const near = meant ?? nearestName(name, paths);
  return invalid(`the group has no array \`${name}\``, `Its arrays are ${paths.join(", ") || "none"}.`, near);
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
  return invalid(
    `\`${path}:${size}\` names only the array \`${path}\`, which is the coordinate of a dimension of other arrays`,
    `Write \`${dimension}\` for the dimension, or \`${path}:${dimension}\` for that array alone.`,
  );
}

function dimensionsOf(arrays: readonly GroupArray[]): string[] {
  const names = new Set(arrays.flatMap(({ metadata }) => metadata.dimensionNames ?? []));
  return [...names].filter((name) => name !== null);
}

function invalid(reason: string, hint: string, meant?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, {
    hint: meant === undefined ? hint : `Did you mean \`${meant}\`?`,
  });
}
