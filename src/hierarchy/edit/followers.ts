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

/** An array, by its path in the hierarchy, that gets another shape. */
export interface Reshaped {
  readonly path: string;
  readonly before: ArrayMetadata;
  readonly shape: readonly number[];
}

/** A node by its path in the hierarchy, with the metadata that it gets. */
export interface FollowingNode {
  readonly path: string;
  readonly before: NodeMetadata;
  readonly metadata: NodeMetadata;
}

/** Metadata that are true of the new shapes. */
export interface Following {
  /** The arrays, in their order, and then nodes around them. */
  readonly nodes: readonly FollowingNode[];
  readonly warnings: readonly ConventionNote[];
}

/** A node that goes, or comes, by its path in the hierarchy. */
interface MemberChange {
  readonly gone?: string;
  readonly come?: string;
}

/**
 * Writes the metadata of the nodes around one that goes, or has come, where they say which members there are. To list no node
 * that is not there, what goes is taken out before it does.
 */
export async function followMember(
  home: Pick<ParentHierarchy, "store" | "spec">,
  node: ZarrNode,
  change: MemberChange,
  reading: ReadDocumentOptions,
): Promise<void> {
  const { nodes } = await following(home, node, [], { ...reading, ...change });
  await writeFollowing(home, node, nodes, reading.signal);
}

/** Writes nodes around one that has changed, each as far as its own documents differ. */
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
 * Makes the metadata of arrays that get other shapes true of these, and those of the groups and arrays around them that
 * say something of them. Those are looked at where names of attributes show that there may be any.
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
  for (const path of above) {
    const group = await openAt(path);
    if (group?.kind === "group") around.set(path, group.metadata);
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
