import type { OptionNames } from "../../util/check-options.ts";
import { globMatcher } from "../../util/glob.ts";
import { ancestorPaths, belowPath } from "../../util/node-path.ts";

/** What of a source is taken. */
export interface KeyFilter {
  /**
   * Globs of nodes and of keys that are no Zarr, by their paths below the source, of which each means all below it too:
   * only these are taken, with the groups that they are in. `*.txt` and `t2m` mean names at any depth, `2024/*` paths
   * from the source on.
   */
  readonly include?: string | readonly string[] | undefined;
  /** Globs of what is left out, also where it is included. */
  readonly exclude?: string | readonly string[] | undefined;
  /**
   * Takes the arrays that `include` names, and an array that is sliced, without what belongs to them: coordinates of their
   * dimensions, and arrays that their attributes name (`coordinates`, `bounds`, `grid_mapping`, `ancillary_variables`,
   * `cell_measures`, `formula_terms`).
   */
  readonly alone?: boolean | undefined;
}

export const KEY_FILTER: OptionNames<KeyFilter> = { include: true, exclude: true, alone: true };

/** A filter whose arrays are known. */
export interface PlannedFilter extends Omit<KeyFilter, "alone"> {
  /** Paths below the source of arrays that are taken because they belong to others. */
  readonly companions?: readonly string[];
}

/** What globs say of paths below the source. */
export interface PathFilter {
  /** Whether a path, or a folder that it is in, is named by a glob to include, and none by one to exclude. */
  isTaken(path: string): boolean;
  /** Whether a path, or a folder that it is in, is named by a glob to exclude. */
  isExcluded(path: string): boolean;
}

/** The filter as one that can be asked; undefined where it takes everything. @throws `invalid-option` */
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

/** Whether any of the globs matches a path, or a folder that it is in. */
function matcherOf(globs: string | readonly string[] | undefined): ((path: string) => boolean) | undefined {
  if (globs === undefined || globs.length === 0) return undefined;
  const matchers = [globs].flat().map(globMatcher);
  const isMeant = (path: string) => matchers.some((matches) => matches(path));
  return (path) => isAtOrIn(path, isMeant);
}

/** Whether a path is meant, or a folder that it is in. */
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
 * The nodes that are taken: an array as a whole or not at all, a group also for what is taken below it. The first of
 * them is the root, which always is.
 */
export function takenNodes<N extends Node>(nodes: readonly N[], filter: PathFilter): N[] {
  const root = nodes[0]?.path ?? "";
  const isTaken = ({ path }: N) => path === root || filter.isTaken(belowPath(root, path));
  const taken = nodes.filter(isTaken);
  const needed = new Set(taken.flatMap(({ path }) => ancestorPaths(path)));
  return nodes.filter((node) => isTaken(node) || (node.kind === "group" && needed.has(node.path)));
}
