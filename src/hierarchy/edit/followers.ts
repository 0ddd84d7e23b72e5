import type { ArrayMetadata, NodeMetadata } from "../../meta/array-metadata.ts";
import type { ChangedNode, ConventionNote } from "../../meta/conventions/convention.ts";
import { describesOthers, followConventions } from "../../meta/conventions/conventions.ts";
import { ancestorPaths, isAtOrBelow } from "../../util/node-path.ts";
import type { ZarrNode } from "../node.ts";
import { openNode } from "../open/open-node.ts";
import { walk } from "../open/walk.ts";
import type { ReadDocumentOptions } from "../stored-documents.ts";
import { alongside, writeMetadata } from "./metadata.ts";
import type { ParentHierarchy } from "./parent.ts";

/** An array that gets another shape, with its path in the hierarchy. */
export interface Reshaped {
  readonly path: string;
  readonly before: ArrayMetadata;
  readonly shape: readonly number[];
}

/** A node with its new metadata and its path in the hierarchy. */
export interface FollowingNode {
  readonly path: string;
  readonly before: NodeMetadata;
  readonly metadata: NodeMetadata;
}

/** Metadata that match the new shapes. */
export interface Following {
  /** The arrays in the given order, then the nodes around them. */
  readonly nodes: readonly FollowingNode[];
  readonly warnings: readonly ConventionNote[];
}

/** A node that is removed or added, by its path in the hierarchy. */
interface MemberChange {
  readonly gone?: string;
  readonly come?: string;
}

/**
 * Updates the metadata of the nodes around a removed or added node, where they list their members. Call it before the
 * removal, so that they never list a missing node.
 */
export async function followMember(
  hierarchyAround: Pick<ParentHierarchy, "store" | "spec">,
  node: ZarrNode,
  change: MemberChange,
  reading: ReadDocumentOptions,
): Promise<void> {
  const { nodes } = await following(hierarchyAround, node, [], { ...reading, ...change });
  await writeFollowing(hierarchyAround, node, nodes, reading.signal);
}

/** Writes the changed documents of the nodes around a changed node. */
export async function writeFollowing(
  { store, spec }: Pick<ParentHierarchy, "store" | "spec">,
  node: ZarrNode,
  nodes: readonly FollowingNode[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const { path, metadata } of nodes)
    await writeMetadata(node, { store, spec, path }, () => metadata, { along: alongside, signal });
}

/**
 * Adapts the metadata of arrays to their new shapes, and the metadata of groups and arrays around them that describe
 * them. Those are read only if names of attributes suggest such descriptions.
 */
export async function following(
  { store, spec }: Pick<ParentHierarchy, "store" | "spec">,
  node: ZarrNode,
  reshaped: readonly Reshaped[],
  { maxMetadata, signal, ...members }: ReadDocumentOptions & MemberChange = {},
): Promise<Following> {
  const { zarrFormat } = node.layout;
  const reading = { ...node.reading, ...(maxMetadata !== undefined && { maxMetadata }), zarrFormat, signal };
  const openAt = (path: string) => openNode(store, path, { ...reading, spec });
  const own = new Map(reshaped.map((one) => [one.path, one]));
  const { gone, come } = members;
  const changed = [...own.keys(), ...(gone ? [gone] : []), ...(come ? [come] : [])];
  const above = [...new Set(changed.flatMap(ancestorPaths))].sort((a, b) => a.length - b.length);
  const around = new Map<string, NodeMetadata>();
  for (const group of await Promise.all(above.map(openAt))) {
    if (group?.kind === "group") around.set(group.path, group.metadata);
  }
  const stated = [...around.values(), ...reshaped.map(({ before }) => before)];
  const [outermost] = around.keys();
  if (outermost !== undefined && stated.some(describesOthers)) {
    const root = await openAt(outermost);
    if (root?.kind === "group") {
      for await (const { path, metadata } of walk(root, { signal })) around.set(path, metadata);
    }
  }
  for (const path of around.keys()) {
    if (own.has(path) || (gone !== undefined && isAtOrBelow(path, gone))) around.delete(path);
  }
  const nodes: ChangedNode[] = [
    ...reshaped.map(({ path, before, shape }) => ({
      path,
      metadata: { ...before, shape },
      from: { path, metadata: before },
    })),
    ...[...around].map(([path, metadata]) => ({ path, metadata, from: { path, metadata } })),
  ];
  const { nodes: followed, notes } = followConventions(nodes, { members });
  return {
    nodes: followed
      .filter(({ path, metadata, from }) => own.has(path) || metadata !== from.metadata)
      .map(({ path, metadata, from }) => ({ path, before: from.metadata, metadata })),
    warnings: notes,
  };
}
