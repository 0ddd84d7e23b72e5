import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { belowPath } from "../../util/node-path.ts";
import { type ChunksInput, type ChunksOption, type ChunksRequest, parseChunks } from "./chunk-option.ts";
import type { GroupArray } from "./group-slice.ts";

/** The node that was opened, below which arrays are selected. */
export interface OpenedRoot {
  readonly path: string;
  readonly kind: "array" | "group";
}

/**
 * What is asked for by path, of the arrays that are meant.
 *
 * @throws `invalid-option` for a selector that matches no array, or one of a coordinate that is likely a dimension.
 */
export function meantOptions(
  asked: ChunksInput,
  arrays: readonly GroupArray[],
  root: OpenedRoot,
): Map<string, ChunksOption> {
  const request = chunksRequest(asked);
  const options = new Map<string, ChunksOption>();
  const { all } = request;
  if (all) {
    const isSingle = root.kind === "array";
    const meant = isSingle ? arrays : arrays.filter(({ path, metadata }) => isMeant(all, path, metadata));
    if (meant.length === 0) throw nothingMeant(all, arrays);
    for (const { path } of meant) options.set(path, all);
  }
  for (const [name, option] of Object.entries(request.arrays ?? {})) {
    const path = [root.path, name].filter(Boolean).join("/");
    const named = arrays.find((candidate) => candidate.path === path);
    if (named === undefined) throw noArray({ name, option }, arrays, root);
    if (isLikelyDimension(named, option, arrays)) throw coordinateOrDimension(name, option);
    options.set(path, option);
  }
  return options;
}

function chunksRequest(chunks: ChunksInput): ChunksRequest {
  const texts = typeof chunks === "string" ? [chunks] : isTexts(chunks) ? chunks : undefined;
  if (texts === undefined) return { all: chunks as ChunksOption };
  const parsed = texts.map(parseChunks);
  const all = parsed.flatMap((request) => (request.all ? [request.all] : []));
  if (all.length > 1) {
    throw invalid(
      "chunks for all arrays are given more than once",
      "Put them into one (time=744,lat=11), or name the array for others (t2m:time=-1).",
    );
  }
  const arrays = Object.assign({}, ...parsed.map((request) => request.arrays ?? {}));
  return { ...(all[0] && { all: all[0] }), arrays };
}

function isTexts(chunks: ChunksInput): chunks is readonly string[] {
  return Array.isArray(chunks) && chunks.length > 0 && chunks.every((chunk) => typeof chunk === "string");
}

/** Whether an array of a group has all the named dimensions and is no coordinate of one of them. */
function isMeant(option: ChunksOption, path: string, { dimensionNames = [], shape }: ArrayMetadata): boolean {
  if (Array.isArray(option)) {
    throw invalid(
      "sizes for a group need dimension names or an array name",
      "Name the dimensions (time=744,lat=11) or the array (t2m:744,11,7).",
    );
  }
  if (shape.length === 1 && dimensionNames[0] === lastName(path)) return false;
  return Object.keys(option).every((dimension) => dimensionNames.includes(dimension));
}

function nothingMeant(option: ChunksOption, arrays: readonly GroupArray[]): ZarrflowError {
  const asked = Object.keys(option);
  const known = dimensionsOf(arrays);
  const stranger = asked.find((name) => !known.includes(name));
  const near = stranger === undefined ? undefined : nearestName(stranger, known);
  return invalid(
    `no array of the group has the dimensions ${asked.join(", ")}`,
    `The group's dimensions are ${known.join(", ") || "not named"}.`,
    near,
  );
}

function noArray(
  { name, option }: { readonly name: string; readonly option: ChunksOption },
  arrays: readonly GroupArray[],
  root: OpenedRoot,
): ZarrflowError {
  const isDimension = dimensionsOf(arrays).includes(name);
  const meant = isDimension && Array.isArray(option) ? `${name}=${option}` : undefined;
  if (root.kind === "array") {
    const reason = `\`${name}:\` names an array of a group, but the source is one array`;
    return invalid(reason, "Give only the sizes.", meant);
  }
  const paths = arrays.map(({ path }) => belowPath(root.path, path));
  const near = meant ?? nearestName(name, paths);
  return invalid(`the group has no array \`${name}\``, `Its arrays are ${paths.join(", ") || "none"}.`, near);
}

/** Whether an array that is named is the coordinate of a dimension that other arrays have, too: `time:-1` for `time=-1`. */
function isLikelyDimension(
  { path, metadata: { shape, dimensionNames = [] } }: GroupArray,
  option: ChunksOption,
  arrays: readonly GroupArray[],
): boolean {
  const name = lastName(path);
  if (!Array.isArray(option) || shape.length !== 1 || dimensionNames[0] !== name) return false;
  return arrays.some((other) => other.path !== path && other.metadata.dimensionNames?.includes(name));
}

function coordinateOrDimension(path: string, option: ChunksOption): ZarrflowError {
  const dimension = `${lastName(path)}=${option}`;
  return invalid(
    `\`${path}:${option}\` names only the array \`${path}\`, which is the coordinate of a dimension of other arrays`,
    `Write \`${dimension}\` for the dimension, or \`${path}:${dimension}\` for that array alone.`,
  );
}

function dimensionsOf(arrays: readonly GroupArray[]): string[] {
  const names = new Set(arrays.flatMap(({ metadata }) => metadata.dimensionNames ?? []));
  return [...names].filter((name) => name !== null);
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function invalid(reason: string, hint: string, meant?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, {
    hint: meant === undefined ? hint : `Did you mean \`${meant}\`?`,
  });
}
