import { globMatcher } from "../util/glob.ts";
import { ancestorPaths, belowPath } from "../util/node-path.ts";
import type { OptionNames } from "../util/options.ts";

/** The nodes and keys of a source to take. */
export interface KeyFilter {
  /**
   * Globs of the nodes and other keys to take, as paths below the source. A match includes everything below it, and
   * the groups above it. `*.txt` and `t2m` match names at any depth; `2024/*` matches paths from the source on.
   */
  readonly include?: string | readonly string[] | undefined;
  /** Globs of nodes and keys to leave out, even if they are included. */
  readonly exclude?: string | readonly string[] | undefined;
  /**
   * Takes companions too: arrays that describe a sliced array, or those that `include` names. These are the coordinates
   * of their dimensions, and arrays named by their attributes (`coordinates`, `bounds`, `grid_mapping`,
   * `ancillary_variables`, `cell_measures`, `formula_terms`). True by default; `--alone` sets it to false.
   */
  readonly companions?: boolean | undefined;
}

export const KEY_FILTER: OptionNames<KeyFilter> = { include: true, exclude: true, companions: true };

/** A filter with the arrays it adds. */
export interface PlannedFilter extends Omit<KeyFilter, "companions"> {
  /** Paths, below the source, of arrays that are taken because they describe others. */
  readonly companions?: readonly string[];
}

/** Matches paths below the source. */
export interface PathFilter {
  /** True if a path, or a folder above it, is included and none of them is excluded. */
  isTaken(path: string): boolean;
  /** True if a path, or a folder above it, is excluded. */
  isExcluded(path: string): boolean;
}

/** Compiles a filter; undefined if it takes everything. @throws `invalid-option` */
export function pathFilter({ include, exclude, companions = [] }: PlannedFilter): PathFilter | undefined {
  const included = matcherOf(include);
  const excluded = matcherOf(exclude);
  if (!included && !excluded) return undefined;
  const isExcluded = (path: string) => excluded?.(path) === true;
  const others = new Set(companions);
  const isCompanion = (path: string) => others.size > 0 && isAtOrIn(path, (one) => others.has(one));
  const isIncluded = (path: string) => included?.(path) !== false || isCompanion(path);
  return { isTaken: (path) => isIncluded(path) && !isExcluded(path), isExcluded };
}

/** Matches a path if any of the globs matches it or a folder above it. */
function matcherOf(globs: string | readonly string[] | undefined): ((path: string) => boolean) | undefined {
  if (globs === undefined || globs.length === 0) return undefined;
  const matchers = [globs].flat().map(globMatcher);
  const isMeant = (path: string) => matchers.some((matches) => matches(path));
  return (path) => isAtOrIn(path, isMeant);
}

/** True if a condition holds for a path or for a folder above it. */
function isAtOrIn(path: string, isMeant: (path: string) => boolean): boolean {
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
    if (isMeant(path.slice(0, end))) return true;
  }
  return isMeant(path);
}

interface Node {
  readonly path: string;
  readonly kind: "array" | "group";
}

/**
 * Filters nodes: an array is taken whole or not at all, a group also if something below it is taken. The first node
 * is the root, which is always taken.
 */
export function takenNodes<N extends Node>(nodes: readonly N[], filter: PathFilter): N[] {
  const root = nodes[0]?.path ?? "";
  const isTaken = ({ path }: N) => path === root || filter.isTaken(belowPath(root, path));
  const taken = nodes.filter(isTaken);
  const needed = new Set(taken.flatMap(({ path }) => ancestorPaths(path)));
  return nodes.filter((node) => isTaken(node) || (node.kind === "group" && needed.has(node.path)));
}
