import { hasConsolidated } from "../../hierarchy/consolidated.ts";
import { nameOf, type ZarrArray, type ZarrGroup, type ZarrNode } from "../../hierarchy/node.ts";
import { axesFromAbove } from "../../hierarchy/open/above-on-use.ts";
import { isNotKnown } from "../../hierarchy/open/open-node.ts";
import { type BrokenNode, walkPastBroken } from "../../hierarchy/open/walk.ts";
import { askedSlice } from "../../hierarchy/parse-slice.ts";
import type { ReadOptions } from "../../hierarchy/read-options.ts";
import type { NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { sourcesOutside } from "../../meta/conventions/ome/members.ts";
import { type KeyFilter, type PathFilter, pathFilter, takenNodes } from "../../plan/key-filter.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import type { NodesInFormat } from "../../plan/request.ts";
import { isListable, type ListableStore, type StoreOptions } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import type { Selection } from "../../streams/selection.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { firstOf, nearestName } from "../../util/names.ts";
import { belowPath, isAtOrBelow, lastName } from "../../util/node-path.ts";
import { axesOf } from "./arrays-below.ts";
import { type ArrayConversion, changeOf, type OpenedNodes, selectionsOf } from "./changes.ts";
import type { RegriddedNode } from "./converted-nodes.ts";
import type { Changes } from "./flow-options.ts";
import { companionsOf, type TakenWhole } from "./group-arrays.ts";
import type { OtherRanges, otherResolutions } from "./image-slice.ts";
import { copiedWarning, withChunkSeparators } from "./node-findings.ts";
import { aboutCoordinates, coordinatesAbove, nodesByIndices, type SliceReading } from "./slice-indices.ts";
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
      if (isTaken) throw node.error.addContext({ hint: "Leave it out with --exclude." });
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
    message: `this cannot be read, and is left out with all below it: ${error.message}`,
    hint: "Name it with --exclude if it is to be left out.",
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

/**
 * Computes the metadata of the nodes to take: in the target's format, and with the requested changes.
 *
 * @param root the first of the nodes
 * @param asked the requested node: the root, or a sliced array in it
 */
export async function wantedMetadata(
  { root, asked, all, taken, excluded }: WantedNodes,
  to: ZarrFormat,
  options: Changes & SliceReading & KeyFilter,
) {
  const takenByPath = new Map(taken.map((node) => [node.path, node]));
  const sources = all.map((node) => takenByPath.get(node.path) ?? node);
  const converted = await nodesInFormatOf(to, root, sources, options.signal);
  const metadataOf = ({ path, metadata }: ZarrNode) => converted.metadata.get(path) ?? metadata;
  const inFormat = taken.map((node) => ({ path: node.path, metadata: metadataOf(node) }));
  const axes = await axesOf(asked, inFormat, options);
  const { path, kind } = asked;
  const name = asked.kind === "array" ? { name: nameOf(asked) } : {};
  const opened: OpenedNodes = { root: { path, kind, ...name }, nodes: inFormat, axes };
  const { takenItems, selections, takenWhole, turns } = await selectionsAsked(
    asked,
    opened,
    { all, taken, excluded },
    options,
  );
  const outside = selections.size === 0 ? [] : sourcesOutside(inFormat, root.path);
  const left =
    selections.size === 0 ? [] : await coordinatesAbove({ root: asked, all, taken, axes }, options);
  const warnings = [...takenWholeWarnings(root, takenWhole, options.strict), ...outside, ...left];
  const conversions = await conversionsOf(options, opened, takenByPath, { to, selections });
  const { change, kept } = changeOf(options, opened, selections, conversions);
  const cutImages = await cutImagesOf(asked, inFormat, selections);
  const changed = inFormat.map(({ path, metadata: before }): RegriddedNode => {
    const asked = before.kind === "array" ? change(path, before) : undefined;
    const { selection } = asked ?? {};
    return {
      path,
      before,
      metadata: asked?.metadata ?? cutImages.get(path) ?? before,
      ...(selection && { placing: { ...selection, turns: turns.get(path) } }),
    };
  });
  const isSmaller = excluded.length > 0 || taken.length < all.length;
  const followed = await followedNodesOf(root, changed, isSmaller);
  return {
    converted: {
      metadata: new Map([...converted.metadata, ...cutImages, ...followed.metadata]),
      warnings: [
        ...warnings,
        ...(options.codec === undefined ? filterWarnings(root, conversions) : []),
        ...followed.warnings,
        ...converted.warnings,
      ],
    },
    change,
    kept,
    conversions,
    takenItems,
  };
}

/** Warns about filters that are dropped because the data type changes, unless other codecs were requested. */
function filterWarnings(root: ZarrNode, conversions: ReadonlyMap<string, ArrayConversion>): NodeWarning[] {
  return [...conversions].flatMap(([path, { filtersLeftOut: [...names] = [] }]) =>
    names.length === 0
      ? []
      : {
          path: belowPath(root.path, path),
          message: `the data type is new, and filters of the old one are left out: ${names.join(", ")}`,
          hint: "State the codecs of the new type with --codec, such as --codec delta,zstd:5.",
        },
  );
}

async function conversionsOf(
  { arrays: option, maxMemory, signal }: Changes & Pick<ReadOptions, "maxMemory" | "signal">,
  opened: OpenedNodes,
  taken: ReadonlyMap<string, ZarrNode>,
  how: { readonly to: ZarrFormat; readonly selections: ReadonlyMap<string, Selection> },
): Promise<ReadonlyMap<string, ArrayConversion>> {
  if (option === undefined) return new Map();
  const { planConversions } = await import("./plan-conversion.ts");
  const { root } = opened;
  const arrays = opened.nodes.flatMap(({ path, metadata }) => {
    const array = root.kind === "group" || path === root.path ? taken.get(path) : undefined;
    return array?.kind === "array" && metadata.kind === "array" ? [{ array, inFormat: metadata }] : [];
  });
  return planConversions(option, root, arrays, { ...how, maxMemory, signal });
}

/** Resolves the requested slice to the selections of the opened nodes. */
async function selectionsAsked(
  asked: ZarrArray | ZarrGroup,
  opened: OpenedNodes,
  { all, taken, excluded }: Pick<SourceNodes, "all" | "taken" | "excluded">,
  options: Changes & SliceReading,
) {
  try {
    const nodes = { root: asked, all, taken, excluded, axes: opened.axes };
    const { option, takenItems } = await nodesByIndices(options.slice, nodes, options);
    const others = option && asked.kind === "group" ? await othersOf(option, nodes, options) : new Map();
    return { takenItems, ...(await selectionsOf(option, opened, others)) };
  } catch (error) {
    if (asked.kind === "group" || options.slice === undefined) throw error;
    throw await aboutCoordinates(error, askedSlice(options.slice, {}), asked, options.signal);
  }
}

/** Updates attributes to match new grids; does nothing if no grid changes and all nodes are taken. */
async function followedNodesOf(
  root: ZarrNode,
  nodes: readonly RegriddedNode[],
  isSmaller: boolean,
): Promise<NodesInFormat> {
  const isChanged = nodes.some(({ before, metadata }) => metadata.kind === "array" && metadata !== before);
  if (!isChanged && !isSmaller) return { metadata: new Map(), warnings: [] };
  const { followedNodes } = await import("./converted-nodes.ts");
  return followedNodes(root.path, nodes, isSmaller);
}

export interface WantedNodes extends Pick<SourceNodes, "all" | "taken" | "excluded"> {
  readonly root: ZarrArray | ZarrGroup;
  readonly asked: ZarrArray | ZarrGroup;
}

/** Warns about nodes that a slice takes whole. @throws `invalid-selection` if `isStrict` is set. */
function takenWholeWarnings(
  root: ZarrNode,
  takenWhole: readonly TakenWhole[],
  isStrict: boolean | undefined,
): NodeWarning[] {
  const [first] = takenWhole;
  if (isStrict && first) {
    throw new ZarrflowError("invalid-selection", first.reason, {
      path: first.path,
      hint: "Leave it out with --exclude, or omit --strict to take it whole.",
    });
  }
  return takenWhole.map(({ path, reason }) => ({
    path: belowPath(root.path, path),
    message: `this is not sliced, but taken whole: ${reason}`,
    hint: "Slice it by itself, or leave it out with --exclude. --strict rejects such a slice.",
  }));
}

async function nodesInFormatOf(
  to: ZarrFormat,
  root: ZarrArray | ZarrGroup,
  nodes: readonly ZarrNode[],
  signal: AbortSignal | undefined,
): Promise<NodesInFormat> {
  if (root.layout.zarrFormat === to) return { metadata: new Map(), warnings: [] };
  const { nodesInFormat } = await import("./converted-nodes.ts");
  return nodesInFormat(nodes, to, await axesToWrite(root, to, signal));
}

async function othersOf(...asked: Parameters<typeof otherResolutions>): Promise<OtherRanges> {
  const { otherResolutions } = await import("./image-slice.ts");
  return otherResolutions(...asked);
}

async function cutImagesOf(
  root: ZarrArray | ZarrGroup,
  nodes: OpenedNodes["nodes"],
  selections: ReadonlyMap<string, Selection>,
): Promise<ReadonlyMap<string, NodeMetadata>> {
  if (root.kind === "array" || selections.size === 0) return new Map();
  const { groupsOfCutImages } = await import("./image-slice.ts");
  return groupsOfCutImages(nodes, selections);
}

/**
 * Finds the dimension names that a level of an image has from the group above, which is not copied with it. Only v3
 * stores names.
 */
async function axesToWrite(
  root: ZarrArray | ZarrGroup,
  to: ZarrFormat,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | undefined> {
  if (root.kind === "group" || to !== "v3") return undefined;
  return axesFromAbove(root, signal);
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
