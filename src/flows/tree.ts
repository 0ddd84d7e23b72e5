import type { ZarrNode } from "../hierarchy/node.ts";
import type { OpenSource } from "../hierarchy/open/open.ts";
import { isNotKnown } from "../hierarchy/open/open-node.ts";
import { type BrokenNode, walkPastBroken } from "../hierarchy/open/walk.ts";
import { SOURCE_OPTIONS, type SourceOptions } from "../hierarchy/read-options.ts";
import type { Finding } from "../meta/format.ts";
import { checkedOptions, type OptionNames } from "../util/check-options.ts";
import type { ErrorCode } from "../util/errors.ts";
import { belowPath } from "../util/node-path.ts";
import { type DimensionNames, dimensionNaming } from "./request/axes-of.ts";
import { openSource } from "./request/open-source.ts";

/** A node of a hierarchy, by its metadata alone. */
export type TreeNode = TreeArray | TreeGroup | TreeBroken;

interface TreeBase {
  /** Path below the node that was asked for; "" for that itself. */
  readonly path: string;
  readonly zarrFormat: string;
  /** What reading the metadata noticed and went on over. */
  readonly findings: readonly Finding[];
}

export interface TreeArray extends TreeBase {
  readonly kind: "array";
  readonly dataType: string;
  readonly shape: readonly number[];
  /** Shape of what one key holds: of a shard, where chunks lie in shards. */
  readonly chunkShape: readonly number[];
  /** Shape of the chunks in a shard; absent without shards. */
  readonly innerChunkShape?: readonly number[];
  /** The array's own, or those of the axes of the image it is a level of. */
  readonly dimensionNames: readonly (string | null)[] | null;
}

export interface TreeGroup extends TreeBase {
  readonly kind: "group";
  /** Whether it has no document of its own, and is a group only because nodes lie below it. */
  readonly implied: boolean;
}

/**
 * A node that cannot be read; what lies below it is not looked at. `unsupported`: nothing is wrong with it, but its data
 * type, chunk grid, codec or the like is not known here.
 */
export interface TreeBroken extends TreeBase {
  readonly kind: "broken" | "unsupported";
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

/** How nodes are found; how their chunks are read is of no importance. */
export interface TreeOptions extends Omit<SourceOptions, "v1Order" | "v2"> {}

const { v1Order: _, v2: __, ...names } = SOURCE_OPTIONS;

export const TREE_OPTIONS: OptionNames<TreeOptions> = names;

/**
 * A node and all below it, parents before their children, siblings sorted. A node below the first that cannot be read is
 * reported as broken or unsupported, and the others follow.
 *
 * @throws as `open` of the first node; as `walk`, but for what is wrong with single nodes.
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
