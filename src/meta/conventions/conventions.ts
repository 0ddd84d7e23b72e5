import { ancestorPaths, isAtOrBelow } from "../../util/node-path.ts";
import type { NodeMetadata, ZarrFormat } from "../array-metadata.ts";
import { discoveryMetadata } from "./acdd.ts";
import { cellValues } from "./cf/cell-values.ts";
import { ragged } from "./cf/ragged.ts";
import { chunkAttributes } from "./chunk-attributes.ts";
import type { ChangedNode, Convention, ConventionNode, ConventionNote, GridChange } from "./convention.ts";
import { geoMultiscales } from "./geo/multiscales.ts";
import { rasters } from "./geo/rasters.ts";
import { stac } from "./geo/stac.ts";
import { missingValues } from "./missing-values.ts";
import { ncZarr } from "./nczarr.ts";
import { omeZarr } from "./ome/ome.ts";

/**
 * All conventions: a new one is a file and a line here. Those that change with the format come first, in the order in
 * which they are carried over; from v3 on in the reverse order, so that each finds what it left on the way there. Arrays of
 * images get dimension names last: they are no variables of CF conventions.
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

/** Nodes in the words of another format, and what is to be said about them. */
export interface ConvertedNodes {
  readonly nodes: readonly ConventionNode[];
  readonly notes: readonly ConventionNote[];
}

/** Carries all conventions of a hierarchy over to another format; nodes that none speaks of stay the same objects. */
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

/** Nodes whose metadata are true of their grids, and what is to be said about them. */
export interface FollowedNodes {
  readonly nodes: readonly ChangedNode[];
  readonly notes: readonly ConventionNote[];
}

/**
 * Makes the metadata of a hierarchy true of its new grids, by all conventions; what cannot be is left out, with a note.
 * Nodes that none speaks of stay the same objects, and so do all where no grid changes and no node is missing.
 */
export function followConventions(
  nodes: readonly ChangedNode[],
  { root = "", members = {}, isSmaller = false }: FollowOptions,
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

/** Whether the metadata of a node may say something of arrays beside it, or below. */
export function describesOthers({ attributes, extra }: NodeMetadata): boolean {
  const names = [...Object.keys(attributes), ...Object.keys(extra?.json ?? {})];
  return CONVENTIONS.some(({ ofOthers }) => ofOthers && names.some((name) => ofOthers.test(name)));
}

export interface FollowOptions {
  /** Path, in its hierarchy, of the node that the flow works on; a root by default. */
  readonly root?: string;
  /** `all`: the nodes are all that there is in the target. Else others are beside them, and one node goes or comes. */
  readonly members?: "all" | { readonly gone?: string; readonly come?: string };
  /** Whether nodes of the source are not among the nodes. */
  readonly isSmaller?: boolean;
}

/** A node whose items are all where they were is not placed anew. */
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
