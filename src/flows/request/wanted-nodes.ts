import { nameOf, type ZarrArray, type ZarrGroup, type ZarrNode } from "../../hierarchy/node.ts";
import { axesFromAbove } from "../../hierarchy/open/above-on-use.ts";
import { askedSlice } from "../../hierarchy/parse-slice.ts";
import type { ReadOptions } from "../../hierarchy/read-options.ts";
import { hasLabels, type SliceOption } from "../../hierarchy/slice-option.ts";
import type { NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import type { ConventionNote, ItemPlacing } from "../../meta/conventions/convention.ts";
import { convertConventions, followConventions } from "../../meta/conventions/conventions.ts";
import { axesByArray } from "../../meta/conventions/ome/attributes.ts";
import { sourcesOutside } from "../../meta/conventions/ome/members.ts";
import { type Axes, withAxes } from "../../meta/dimension-names.ts";
import { type KeyFilter, pathFilter } from "../../plan/key-filter.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import type { NodesInFormat, SourceNode } from "../../plan/request.ts";
import type { Selection } from "../../streams/selection.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { belowPath } from "../../util/node-path.ts";
import { type ArrayConversion, changeOf, type OpenedNodes, selectionsOf } from "./changes.ts";
import type { Changes } from "./flow-options.ts";
import type { TakenWhole } from "./group-arrays.ts";
import type { OtherRanges, otherResolutions } from "./image-slice.ts";
import type { TakenItems } from "./labels/found-labels.ts";
import {
  aboutCoordinates,
  lookUpOptions,
  rangesAsked,
  type SlicedNodes,
  type SliceReading,
} from "./slice-indices.ts";
import type { SourceNodes } from "./source-nodes.ts";

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
  const converted = nodesInFormat(sources, to, await axesToWrite(root, to, options.signal));
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
  const followed = followedNodes(root.path, changed, isSmaller);
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

interface WantedNodes extends Pick<SourceNodes, "all" | "taken" | "excluded"> {
  readonly root: ZarrArray | ZarrGroup;
  readonly asked: ZarrArray | ZarrGroup;
}

/** Finds the dimension names that images give to their levels, if any option refers to dimensions by name. */
async function axesOf(
  root: ZarrArray | ZarrGroup,
  nodes: readonly Pick<SourceNode, "path" | "metadata">[],
  { chunks, shards, slice, signal }: Changes & { readonly signal?: AbortSignal | undefined },
): Promise<Axes> {
  if (![chunks, shards, slice].some(asksByName)) return new Map();
  if (root.kind === "group") return axesByArray(nodes);
  const axes = await axesFromAbove(root, signal);
  return new Map(axes && [[root.path, axes]]);
}

function asksByName(option: Changes["chunks"] | Changes["slice"]): boolean {
  const isObject = typeof option === "object" && !Array.isArray(option);
  return isObject || [option].flat().some((one) => typeof one === "string" && one.includes("="));
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

/** A slice of nodes by indices. The items that it takes along each dimension are read on request. */
interface SliceOfNodes {
  readonly option?: SliceOption;
  readonly takenItems: () => Promise<readonly TakenItems[]>;
}

/**
 * Replaces the labels in a slice of a node and everything below it by indices. @throws as `lookUpInArray` and
 * `lookUpInGroup`
 */
async function nodesByIndices(
  asked: SliceOption | string | undefined,
  { root, all, taken, excluded, axes }: SlicedNodes,
  options: SliceReading,
): Promise<SliceOfNodes> {
  if (asked === undefined) return { takenItems: async () => [] };
  const option = await rangesAsked(asked, {});
  const lookUps = () => import("./labels/look-up-labels.ts");
  const reading = lookUpOptions(root, options);
  const namesOf = ({ metadata, path }: ZarrArray) => withAxes(metadata, axes.get(path)).dimensionNames ?? [];
  const plain = { option, labels: [] };
  if (root.kind === "array") {
    const names = namesOf(root);
    const found = hasLabels(option)
      ? await (await lookUps()).lookUpInArray(option, root, names, reading)
      : plain;
    const takenItems = async () => (await lookUps()).takenOfArray(found, root, names, reading);
    return { option: found.option, takenItems };
  }
  const arrays = taken.flatMap((node) =>
    node.kind === "array" ? [{ array: node, names: namesOf(node) }] : [],
  );
  const group = { group: root, nodes: all, leftOut: excluded, arrays };
  const found = hasLabels(option) ? await (await lookUps()).lookUpInGroup(option, group, reading) : plain;
  return {
    option: found.option,
    takenItems: async () => (await lookUps()).takenOfGroup(found, group, reading),
  };
}

async function othersOf(...asked: Parameters<typeof otherResolutions>): Promise<OtherRanges> {
  const { otherResolutions } = await import("./image-slice.ts");
  return otherResolutions(...asked);
}

/** Warns about coordinates in groups above the sliced group, which the slice does not contain. */
async function coordinatesAbove(
  { root, all, taken, axes }: Omit<SlicedNodes, "excluded">,
  { exclude, signal }: Pick<KeyFilter, "exclude"> & Pick<SliceReading, "signal">,
): Promise<NodeWarning[]> {
  if (root.kind === "array") return [];
  const { findCoordinate } = await import("./labels/find-coordinate.ts");
  const filter = pathFilter({ ...(exclude && { exclude }) });
  const within = { path: root.path, nodes: new Map(all.map((node) => [node.path, node])) };
  const below = new Set<ZarrNode>(all);
  const above: string[] = [];
  const seen = new Set<string>();
  for (const array of taken) {
    if (array.kind === "group") continue;
    for (const name of withAxes(array.metadata, axes.get(array.path)).dimensionNames ?? []) {
      if (name === null || seen.has(name) || filter?.isExcluded(name)) continue;
      seen.add(name);
      const found = await findCoordinate({ array, within }, name, signal);
      if (found && !below.has(found)) above.push(name);
    }
  }
  if (above.length === 0) return [];
  const names = above.map((name) => `\`${name}\``).join(", ");
  return [
    {
      message: `the slice does not include coordinates in a group above this one: ${names}`,
      hint: "Slice a single array, which includes them, or slice the group above with --include (in code include).",
    },
  ];
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
      hint: "Skip it with --exclude, or omit --strict to copy it whole.",
    });
  }
  return takenWhole.map(({ path, reason }) => ({
    path: belowPath(root.path, path),
    message: `this is copied whole, not sliced: ${reason}`,
    hint: "Slice it separately, or skip it with --exclude. --strict rejects such a slice.",
  }));
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

/** Warns about filters that are dropped because the data type changes, unless other codecs were requested. */
function filterWarnings(root: ZarrNode, conversions: ReadonlyMap<string, ArrayConversion>): NodeWarning[] {
  return [...conversions].flatMap(([path, { filtersLeftOut: [...names] = [] }]) =>
    names.length === 0
      ? []
      : {
          path: belowPath(root.path, path),
          message: `the data type is new, and filters of the old one are dropped: ${names.join(", ")}`,
          hint: "Set the codecs for the new type with --codec, such as --codec delta,zstd:5.",
        },
  );
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

const UNCHANGED: NodesInFormat = { metadata: new Map(), warnings: [] };

/**
 * Converts the metadata of a hierarchy to the conventions of the target's format, if that is another one.
 *
 * @param nodes all nodes of the hierarchy, its root first, including those that are not copied
 * @param axes dimension names for a root without names: the level of an image that is not copied
 */
export function nodesInFormat(
  nodes: readonly Pick<SourceNode, "path" | "metadata" | "layout">[],
  to: ZarrFormat,
  axes?: readonly string[],
): NodesInFormat {
  const [root] = nodes;
  if (root === undefined || root.layout.zarrFormat === to) return UNCHANGED;
  const before = nodes.map(({ path, metadata }) => ({ path: belowPath(root.path, path), metadata }));
  const converted = convertConventions(before, { from: root.layout.zarrFormat, to });
  const changed = nodes.flatMap(({ path, metadata }, i): [string, NodeMetadata][] => {
    const same = converted.nodes[i]?.metadata ?? metadata;
    const now = i === 0 && same.kind === "array" ? withAxes(same, axes) : same;
    return now === metadata ? [] : [[path, now]];
  });
  return { metadata: new Map(changed), warnings: warningsOf(converted.notes) };
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
  if (root.kind === "group" || to !== "v3" || root.layout.zarrFormat === to) return undefined;
  return axesFromAbove(root, signal);
}

/** A node whose grid may change, by its path in the source store. */
interface RegriddedNode {
  readonly path: string;
  /** Metadata in the target's format, before and after the change. */
  readonly before: NodeMetadata;
  readonly metadata: NodeMetadata;
  readonly placing?: ItemPlacing;
}

/**
 * Updates attributes to match the new grids of their nodes, following the conventions. Does nothing if no grid changes
 * and all nodes are taken.
 *
 * @param root path of the first node
 * @param isSmaller true if nodes of the source are not among them
 */
function followedNodes(root: string, nodes: readonly RegriddedNode[], isSmaller: boolean): NodesInFormat {
  const isChanged = nodes.some(({ before, metadata }) => metadata.kind === "array" && metadata !== before);
  if (!isChanged && !isSmaller) return UNCHANGED;
  const changed = nodes.map(({ path, before, metadata, placing }) => {
    const below = belowPath(root, path);
    return { path: below, metadata, from: { path: below, metadata: before }, ...(placing && { placing }) };
  });
  const followed = followConventions(changed, { root, members: "all", isSmaller });
  const followedMetadata = nodes.flatMap(({ path, before, metadata }, i): [string, NodeMetadata][] => {
    const now = followed.nodes[i]?.metadata ?? metadata;
    return now === metadata ? [] : [[path, withTextsOf(before, now)]];
  });
  return { metadata: new Map(followedMetadata), warnings: warningsOf(followed.notes) };
}

/** Metadata with the attributes and format-specific members of another node. */
function withTextsOf<T extends NodeMetadata>(metadata: T, { attributes, extra }: NodeMetadata): T {
  return { ...metadata, attributes, ...(extra && { extra }) };
}

function warningsOf(notes: readonly ConventionNote[]): NodeWarning[] {
  return notes.map(({ path, ...note }) => ({ ...note, ...(path !== "" && { path }) }));
}
