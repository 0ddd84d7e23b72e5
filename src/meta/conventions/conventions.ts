import { ancestorPaths, isAtOrBelow } from "../../util/node-path.ts";
import type { NodeMetadata, ZarrFormat } from "../array-metadata.ts";
import { cellValues, ragged } from "./cf/cell-values.ts";

import { chunkAttributes } from "./chunk-attributes.ts";
import type { ChangedNode, Convention, ConventionNode, ConventionNote, GridChange } from "./convention.ts";
import { discoveryMetadata, stac } from "./discovery.ts";
import { geoMultiscales } from "./geo/multiscales.ts";
import { rasters } from "./geo/rasters.ts";
import { missingValues } from "./missing-values.ts";
import { ncZarr } from "./nczarr.ts";
import { omeZarr } from "./ome/ome.ts";

/**
 * All conventions: to add one, create a file and list it here. Conventions that depend on the format come first, in
 * order of conversion. From v3 they run in reverse order, so that each finds the result of its own conversion.
 * OME-Zarr comes after missing values, because its arrays get dimension names but are not CF variables.
 */
export const CONVENTIONS: readonly Convention[] = [
  ncZarr,
  missingValues,
  omeZarr,
  geoMultiscales,
  rasters,
  stac,
  cellValues,
  ragged,
  discoveryMetadata,
  chunkAttributes,
];

/** Nodes in another format, with notes about them. */
export interface ConvertedNodes {
  readonly nodes: readonly ConventionNode[];
  readonly notes: readonly ConventionNote[];
}

/**
 * Applies all conventions to convert a hierarchy to another format. Nodes that no convention affects stay the same
 * objects.
 */
export function convertConventions(
  nodes: readonly ConventionNode[],
  { from, to }: { readonly from: ZarrFormat; readonly to: ZarrFormat },
  conventions: readonly Convention[] = CONVENTIONS,
): ConvertedNodes {
  const notes: ConventionNote[] = [];
  if (from === to) return { nodes, notes };
  const change = { from, to, note: (note: ConventionNote) => void notes.push(note) };
  const inOrder = from === "v3" ? [...conventions].reverse() : conventions;
  const converted = inOrder.reduce((soFar, { convert }) => convert?.(soFar, change) ?? soFar, nodes);
  return { nodes: converted, notes };
}

/** Nodes with metadata that matches their grids, with notes about them. */
export interface FollowedNodes {
  readonly nodes: readonly ChangedNode[];
  readonly notes: readonly ConventionNote[];
}

/**
 * Applies all conventions to match a hierarchy's metadata to its new grids; removes what cannot be matched, with a
 * note. Nodes that no convention affects stay the same objects. If no grid changes and no node is missing, all nodes
 * do.
 */
export function followConventions(
  nodes: readonly ChangedNode[],
  { root = "", members = {}, isSmaller = false }: FollowChangesOptions,
  conventions: readonly Convention[] = CONVENTIONS,
): FollowedNodes {
  const notes = new Map<string, ConventionNote>();
  const { gone, come } = members === "all" ? {} : members;
  const areSame = !isSmaller && gone === undefined && come === undefined;
  if (areSame && !nodes.some(isRegridded)) return { nodes, notes: [] };
  const there = new Set(members === "all" ? nodes.flatMap(({ path }) => [...ancestorPaths(path), path]) : []);
  const change: GridChange = {
    root,
    isGone: (path) => (members === "all" ? !there.has(path) : gone !== undefined && isAtOrBelow(path, gone)),
    isNew: (path) => members === "all" || path === come,
    note({ from: { path } }, message, hint) {
      notes.set(JSON.stringify([path, message]), { path, message, ...(hint && { hint }) });
    },
  };
  const placed = nodes.map(withoutIdlePlacing);
  const followed = conventions.reduce<readonly ChangedNode[]>(
    (soFar, { follow }) => follow?.(soFar, change) ?? soFar,
    placed,
  );
  return { nodes: followed, notes: [...notes.values()] };
}

/** True if a node's metadata may describe arrays beside or below it. */
export function describesOthers({ attributes, extra }: NodeMetadata): boolean {
  const names = [...Object.keys(attributes), ...Object.keys(extra?.json ?? {})];
  return CONVENTIONS.some(({ ofOthers }) => ofOthers && names.some((name) => ofOthers.test(name)));
}

export interface FollowChangesOptions {
  /** Path of the flow's root node in its hierarchy; the hierarchy's root by default. */
  readonly root?: string;
  /**
   * `all`: the target has exactly these nodes. Otherwise it has others too, and at most one node is removed or added.
   */
  readonly members?: "all" | { readonly gone?: string; readonly come?: string };
  /** True if some nodes of the source are missing. */
  readonly isSmaller?: boolean;
}

/** Removes a placing that moves nothing. */
function withoutIdlePlacing(node: ChangedNode): ChangedNode {
  const { placing, ...rest } = node;
  if (placing === undefined || placing.shift || placing.turns?.some((turns) => turns !== 0)) return node;
  const isIdle = placing.start.every((at) => at === 0) && placing.step.every((step) => step === 1);
  return isIdle ? rest : node;
}

function isRegridded({ metadata, from, placing }: ChangedNode): boolean {
  const before = from.metadata;
  if (metadata.kind === "group" || before.kind === "group") return false;
  const grid = ({ shape, chunkGrid }: typeof before) => JSON.stringify([shape, chunkGrid]);
  return placing !== undefined || grid(metadata) !== grid(before);
}
