import type { ZarrNode } from "../hierarchy/node.ts";
import { walk } from "../hierarchy/walk.ts";
import type { Finding } from "../meta/dialect.ts";
import { type FlowSource, openSource, type PlanOptions } from "./flow.ts";

/** A node of a hierarchy, by its metadata alone. */
export type TreeNode = TreeArray | TreeGroup;

interface TreeBase {
  /** Path below the node that was asked for; "" for that itself. */
  readonly path: string;
  readonly dialect: string;
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
  readonly dimensionNames: readonly (string | null)[] | null;
}

export interface TreeGroup extends TreeBase {
  readonly kind: "group";
  /** Whether it has no document of its own, and is a group only because nodes lie below it. */
  readonly implied: boolean;
}

/**
 * A node and all below it, parents before their children, siblings sorted.
 *
 * @throws as `open` and `walk`.
 * @example
 * ```ts
 * import { tree } from "zarrflow";
 *
 * for await (const node of tree("era5.zarr")) console.log(node.path, node.kind);
 * ```
 */
export async function* tree(source: FlowSource, options: PlanOptions = {}): AsyncGenerator<TreeNode> {
  const { signal } = options;
  const { root, close } = await openSource(source, options);
  try {
    yield describeNode(root, root.path);
    if (root.kind === "array") return;
    for await (const node of walk(root, { signal })) yield describeNode(node, root.path);
  } finally {
    await close();
  }
}

function describeNode(node: ZarrNode, root: string): TreeNode {
  const base = {
    path: node.path.slice(root.length).replace(/^\//, ""),
    dialect: node.layout.dialect,
    findings: node.findings,
  };
  if (node.kind === "group") return { kind: "group", ...base, implied: node.documents.size === 0 };
  const { innerChunkShape } = node.metadata.chunkGrid;
  return {
    kind: "array",
    ...base,
    dataType: node.dataType,
    shape: node.shape,
    chunkShape: node.chunkShape,
    ...(innerChunkShape && { innerChunkShape }),
    dimensionNames: node.dimensionNames ?? null,
  };
}
