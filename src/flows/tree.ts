import type { ZarrNode } from "../hierarchy/node.ts";
import type { OpenSource } from "../hierarchy/open/open.ts";
import { isNotKnown } from "../hierarchy/open/open-node.ts";
import { type BrokenNode, walkPastBroken } from "../hierarchy/open/walk.ts";
import { SOURCE_OPTIONS, type SourceOptions } from "../hierarchy/read-options.ts";
import type { Finding } from "../meta/format.ts";
import type { ErrorCode } from "../util/errors.ts";
import { belowPath } from "../util/node-path.ts";
import { checkedOptions, type OptionNames } from "../util/options.ts";
import { type DimensionNames, dimensionNaming } from "./request/arrays-below.ts";
import { openSource } from "./request/open-source.ts";

/** A node of a hierarchy, described by its metadata alone. */
export type TreeNode = TreeArray | TreeGroup | TreeBroken;

interface TreeBase {
  /** Path below the given node; "" for the node itself. */
  readonly path: string;
  readonly zarrFormat: string;
  /** Problems in the metadata that did not keep it from being read. */
  readonly findings: readonly Finding[];
}

export interface TreeArray extends TreeBase {
  readonly kind: "array";
  readonly dataType: string;
  readonly shape: readonly number[];
  /** Shape of the data under one key: of a shard if there are shards. */
  readonly chunkShape: readonly number[];
  /** Shape of the chunks in a shard; absent without shards. */
  readonly innerChunkShape?: readonly number[];
  /** Names of the array's dimensions, or of the axes of the image that it is a level of. */
  readonly dimensionNames: readonly (string | null)[] | null;
}

export interface TreeGroup extends TreeBase {
  readonly kind: "group";
  /** True if it has no document of its own, and is a group only because there are nodes below it. */
  readonly implied: boolean;
}

/**
 * A node that cannot be read; nodes below it are skipped. `unsupported`: it is valid, but its data type, chunk grid,
 * codec or another feature is not supported.
 */
export interface TreeBroken extends TreeBase {
  readonly kind: "broken" | "unsupported";
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

/** How nodes are found; options for reading chunks do not apply. */
export interface TreeOptions extends Omit<SourceOptions, "v1Order" | "v2"> {}

const { v1Order: _, v2: __, ...names } = SOURCE_OPTIONS;

export const TREE_OPTIONS: OptionNames<TreeOptions> = names;

/**
 * Yields a node and all nodes below it, parents before children, siblings sorted. A node below the root that cannot be
 * read is reported as broken or unsupported, and the walk goes on.
 *
 * @throws as `open` of the first node; as `walk`, except for problems of single nodes.
 * @example
 * ```ts
 * import { tree } from "zarrflow";
 *
 * for await (const node of tree("era5.zarr")) console.log(node.path, node.kind);
 * ```
 */
export async function* tree(source: OpenSource, given: TreeOptions = {}): AsyncGenerator<TreeNode> {
  const options = checkedOptions(given, TREE_OPTIONS);
  const { signal } = options;
  const { root, close } = await openSource(source, options);
  try {
    const namesOf = await dimensionNaming(root, signal);
    yield describeNode(root, root, namesOf);
    if (root.kind === "array") return;
    for await (const node of walkPastBroken(root, { signal })) yield describeNode(node, root, namesOf);
  } finally {
    await close();
  }
}

function describeNode(
  node: ZarrNode | BrokenNode,
  root: ZarrNode,
  namesOf: (node: ZarrNode) => DimensionNames | undefined,
): TreeNode {
  const path = belowPath(root.path, node.path);
  const { zarrFormat } = root.layout;
  if (node.kind === "broken") {
    const { code, message } = node.error;
    const kind = isNotKnown(node.error) ? "unsupported" : "broken";
    return { kind, path, zarrFormat, findings: [], error: { code, message } };
  }
  const dimensionNames = namesOf(node) ?? null;
  const base = { path, zarrFormat, findings: node.findings };
  if (node.kind === "group") return { kind: "group", ...base, implied: node.documents.size === 0 };
  const { innerChunkShape } = node.metadata.chunkGrid;
  return {
    kind: "array",
    ...base,
    dataType: node.dataType,
    shape: node.shape,
    chunkShape: node.chunkShape,
    ...(innerChunkShape && { innerChunkShape }),
    dimensionNames,
  };
}
