import { hasConsolidated } from "../../hierarchy/consolidated.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { isNotKnown } from "../../hierarchy/open/open-node.ts";
import { type BrokenNode, walkPastBroken } from "../../hierarchy/open/walk.ts";
import { type KeyFilter, type PathFilter, pathFilter, takenNodes } from "../../plan/key-filter.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import { isListable, type ListableStore, type StoreOptions } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { firstOf, nearestName } from "../../util/names.ts";
import { belowPath, isAtOrBelow, lastName } from "../../util/node-path.ts";
import { companionsOf } from "./group-arrays.ts";
import { copiedWarning, withChunkSeparators } from "./node-findings.ts";
import type { SlicedArray } from "./sliced-array.ts";

/** The nodes of a source. */
export interface SourceNodes {
  readonly all: readonly ZarrNode[];
  /** The nodes to take, with detected separators of their chunk keys. */
  readonly taken: readonly ZarrNode[];
  /** Paths, below the source, of arrays that are taken because they describe others. */
  readonly companions: readonly string[];
  /** Paths that were left out without being opened, and of unreadable nodes that were not selected. */
  readonly excluded: readonly string[];
  /** Unsupported nodes that are copied byte for byte. */
  readonly notKnown: readonly BrokenNode[];
  readonly warnings: readonly NodeWarning[];
  /** Paths of the groups with consolidated metadata, if `areDocumentsNew` is set. */
  readonly consolidated?: readonly string[];
}

export interface SourceNodesOptions extends KeyFilter, StoreOptions {
  /** True if the root is a group without documents. */
  readonly isPlain?: boolean | undefined;
  /** True if unsupported nodes can be copied byte for byte. */
  readonly copiesNotKnown: boolean;
  /** True if documents change, so that the groups with consolidated metadata are needed. */
  readonly areDocumentsNew: boolean;
  /** A single sliced array with the arrays that describe it. Nothing else of the root is opened then. */
  readonly sliced?: SlicedArray | undefined;
  /** True if keys outside Zarr nodes are taken too, so that globs may match them. */
  readonly takesKeys: boolean;
  /** Maximum requests in flight. */
  readonly concurrency: number;
}

export async function sourceNodes(
  root: ZarrArray | ZarrGroup,
  { isPlain, sliced, takesKeys, concurrency, signal, ...options }: SourceNodesOptions,
): Promise<SourceNodes> {
  const all: ZarrNode[] = isPlain ? [] : [...(sliced?.nodes ?? [root])];
  const { include, exclude } = options;
  const filter = pathFilter({ include, exclude });
  const excluded: string[] = [];
  const notKnown: BrokenNode[] = [];
  const warnings: NodeWarning[] = [];
  if (root.kind === "group" && !isPlain && !sliced) {
    const isLeftOut = (path: string) => filter?.isExcluded(belowPath(root.path, path)) === true;
    const walking = { isLeftOut, onLeftOut: (path: string) => excluded.push(path), signal };
    for await (const node of walkPastBroken(root, walking)) {
      if (node.kind !== "broken") {
        all.push(node);
        continue;
      }
      const below = belowPath(root.path, node.path);
      const isTaken = filter?.isTaken(below) !== false;
      if (isTaken && options.copiesNotKnown && isNotKnown(node.error)) {
        notKnown.push(node);
        warnings.push(copiedWarning(below, node.error));
        continue;
      }
      if (isTaken) throw node.error.addContext({ hint: "Skip it with --exclude." });
      excluded.push(node.path);
      warnings.push(leftOutWarning(root, node));
    }
  }
  if (sliced) warnings.push(...sliced.broken.map((node) => leftOutWarning(root, node)));
  const filtered = { root, nodes: all, excluded, takesKeys, signal };
  warnings.push(...(await unmatchedGlobs(filtered, sliced ? {} : options)));
  const { chosen, companions } = sliced
    ? { chosen: all, companions: companionsIn(sliced) }
    : await chosenNodes(root, all, options);
  const reading = { concurrency, signal };
  const separated = withChunkSeparators(chosen, reading);
  const consolidating = options.areDocumentsNew ? consolidatedGroups(chosen, reading) : undefined;
  await Promise.allSettled([separated, consolidating]);
  const taken = await separated;
  const consolidated = await consolidating;
  return { all, taken, companions, excluded, notKnown, warnings, ...(consolidated && { consolidated }) };
}

function leftOutWarning(root: ZarrNode, { path, error }: BrokenNode): NodeWarning {
  return {
    path: isAtOrBelow(path, root.path) ? belowPath(root.path, path) : path,
    message: `this cannot be read and is skipped, with everything below it: ${error.message}`,
    hint: "Name it with --exclude to skip it without this warning.",
  };
}

/** Paths, below the root, of the arrays that a sliced array brings along. */
function companionsIn({ array, root, nodes }: SlicedArray): string[] {
  const others = nodes.filter(({ kind, path }) => kind === "array" && path !== array.path);
  return others.map(({ path }) => belowPath(root.path, path));
}

/** Applies a filter, and adds the arrays that describe the included ones. */
async function chosenNodes(
  root: ZarrNode,
  all: readonly ZarrNode[],
  { include = [], exclude, companions: areTaken = true }: KeyFilter,
): Promise<{ readonly chosen: readonly ZarrNode[]; readonly companions: readonly string[] }> {
  const globs = { include, ...(exclude && { exclude }) };
  const filter = pathFilter(globs);
  if (filter === undefined) return { chosen: all, companions: [] };
  const chosen = takenNodes(all, filter);
  if (!areTaken || include.length === 0 || root.kind === "array") return { chosen, companions: [] };
  const byPath = new Map(all.map((node) => [node.path, node]));
  const arrays = chosen.filter((node) => node.kind === "array");
  const find = (path: string) =>
    filter.isExcluded(belowPath(root.path, path)) ? undefined : byPath.get(path);
  const found = await companionsOf(arrays, { root: root.path, find });
  const companions = found.map(({ path }) => belowPath(root.path, path)).sort();
  if (companions.length === 0) return { chosen, companions };
  return { chosen: takenNodes(all, pathFilter({ ...globs, companions }) ?? filter), companions };
}

/** Paths of the groups with consolidated metadata. */
export async function consolidatedGroups(
  nodes: readonly ZarrNode[],
  { concurrency, signal }: Pick<SourceNodesOptions, "concurrency" | "signal">,
): Promise<string[]> {
  const found = new Set<string>();
  const lookAt = async (node: ZarrGroup, context: { readonly signal: AbortSignal }) => {
    if (await hasConsolidated(node, context.signal)) found.add(node.path);
  };
  const groups = nodes.filter((node) => node.kind === "group");
  await forEachConcurrent(groups, lookAt, { concurrency, signal });
  return nodes.flatMap(({ path }) => (found.has(path) ? [path] : []));
}

interface FilteredNodes extends StoreOptions {
  readonly root: ZarrNode;
  /** All nodes except those that were left out without being opened. */
  readonly nodes: readonly ZarrNode[];
  /** Paths of nodes that were left out. */
  readonly excluded: readonly string[];
  /** True if keys outside Zarr nodes are taken too. */
  readonly takesKeys: boolean;
}

/**
 * Warns about globs that match nothing.
 *
 * @throws `invalid-option` for one to include, unless it is a pattern and another one matches
 */
export async function unmatchedGlobs(
  { root, nodes, excluded, takesKeys, signal }: FilteredNodes,
  { include = [], exclude = [] }: KeyFilter,
): Promise<NodeWarning[]> {
  const paths = nodes.map(({ path }) => belowPath(root.path, path)).filter((path) => path !== "");
  const leftOut = excluded.map((path) => belowPath(root.path, path));
  const excluding = exclude.length > 0 ? pathFilter({ exclude }) : undefined;
  const isExcluded = (path: string) => excluding?.isExcluded(path) === true;
  const open = [
    ...[include].flat().map((glob) => globAsked(glob, "include")),
    ...[exclude].flat().map((glob) => globAsked(glob, "exclude")),
  ].filter(({ glob, name, matches }) => {
    if (name === "include") return !paths.some((path) => matches(path) && !isExcluded(path));
    if (paths.some(matches)) return false;
    // A group that another glob excludes was not opened, so the glob may match below it.
    return !leftOut.some((path) => matches(path) || isAtOrBelow(glob.replace(/^\//, ""), path));
  });
  const unmatched = new Set(open);
  const { store } = root;
  if (open.length > 0 && takesKeys && isListable(store)) {
    for await (const key of otherKeys(store, { root, nodes, excluded, signal })) {
      for (const asked of unmatched) {
        if (asked.matches(key) && (asked.name === "exclude" || !isExcluded(key))) unmatched.delete(asked);
      }
      if (unmatched.size === 0) break;
    }
  }
  const areAllUnmatched =
    [include].flat().length === [...unmatched].filter((one) => one.name === "include").length;
  return [...unmatched].map(({ glob, name, matches }) => {
    const areExcluded = name === "include" && [...paths, ...leftOut].some(matches);
    const message = areExcluded
      ? `everything that \`${glob}\` includes is excluded`
      : `nothing matches the glob \`${glob}\` to ${name}`;
    const hint = areExcluded ? "Omit one of the two." : hintFor(glob, paths);
    if (name === "include" && (areAllUnmatched || !/[*?[{]/.test(glob))) {
      throw new ZarrflowError("invalid-option", message, { hint });
    }
    return { code: "nothing-matches", option: name, message, hint };
  });
}

interface AskedGlob {
  readonly glob: string;
  readonly name: "include" | "exclude";
  readonly matches: PathFilter["isTaken"];
}

function globAsked(glob: string, name: AskedGlob["name"]): AskedGlob {
  const filter = pathFilter({ include: glob });
  return { glob, name, matches: (path) => filter?.isTaken(path) === true };
}

const DOCUMENT = /(?:^|\/)(?:\.z(?:array|attrs|group|metadata)|zarr\.json)$/;

/** Yields keys that belong to no node, as paths below the root. Does not list arrays and excluded nodes. */
async function* otherKeys(
  store: ListableStore,
  { root, nodes, excluded, signal }: Omit<FilteredNodes, "takesKeys">,
): AsyncGenerator<string> {
  const arrays = nodes.flatMap(({ kind, path }) => (kind === "array" ? [path] : []));
  const closed = new Set([...arrays, ...excluded]);
  const prefixes = [root.path === "" ? "" : `${root.path}/`];
  for (let prefix = prefixes.pop(); prefix !== undefined; prefix = prefixes.pop()) {
    const listing = store.listDirectory(prefix, { signal, onUnreadable: () => {} });
    for await (const entry of listing) {
      if ("prefix" in entry) {
        if (!closed.has(entry.prefix.replace(/\/$/, ""))) prefixes.push(entry.prefix);
      } else if (!DOCUMENT.test(entry.key)) yield belowPath(root.path, entry.key);
    }
  }
}

function hintFor(glob: string, paths: readonly string[]): string {
  const parts = glob.split(",");
  if (parts.length > 1 && !/[{[]/.test(glob)) return `Repeat the flag for each name, or write \`{${glob}}\`.`;
  const name = lastName(glob.replace(/^\.?\//, ""));
  const near = nearestName(glob, glob.includes("/") ? paths : paths.map(lastName));
  const meant = near ?? paths.find((path) => lastName(path) === name);
  if (meant !== undefined) return `Did you mean \`${meant}\`?`;
  if (paths.length === 0) return "The source has no arrays or groups below it.";
  return `Its arrays and groups are ${firstOf(paths)}.`;
}
