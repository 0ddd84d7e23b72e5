import type { ZarrNode } from "../../hierarchy/node.ts";
import { type KeyFilter, type PathFilter, pathFilter } from "../../plan/key-filter.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import { isListable, type ListableStore, type StoreOptions } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { firstOf, nearestName } from "../../util/names.ts";
import { belowPath, isAtOrBelow, lastName } from "../../util/node-path.ts";

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
      ? `all that \`${glob}\` includes is excluded`
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
  if (paths.length === 0) return "The source has no arrays and groups below it.";
  return `Its arrays and groups are ${firstOf(paths)}.`;
}
