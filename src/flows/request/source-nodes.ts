import { hasConsolidated } from "../../hierarchy/consolidated.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { axesFromAbove } from "../../hierarchy/open/axes-from-above.ts";
import { walkPastBroken } from "../../hierarchy/open/walk.ts";
import type { NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import type { StoreOptions } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import type { Selection } from "../../streams/selection.ts";
import { belowPath } from "../../util/node-path.ts";
import type { NodesInFormat } from "../plan/hierarchy-request.ts";
import type { NodeWarning } from "../plan/plan.ts";
import { axesOf } from "./axes-of.ts";
import { type Changes, changeOf, type OpenedNodes, selectionsOf } from "./changes.ts";
import { withChunkSeparators } from "./chunk-separators.ts";
import { type KeyFilter, pathFilter, takenNodes } from "./key-filter.ts";
import { nodesByIndices, type SliceReading } from "./slice-indices.ts";

/** The nodes of a source. */
export interface SourceNodes {
  readonly all: readonly ZarrNode[];
  /** Those that are taken, with the separators of their chunk keys where these had to be looked for. */
  readonly taken: readonly ZarrNode[];
  /** Paths that were left out without being opened, and of nodes that cannot be read and nobody asked for. */
  readonly excluded: readonly string[];
  readonly warnings: readonly NodeWarning[];
  /** Paths of the groups that have consolidated metadata, where that was asked for. */
  readonly consolidated?: readonly string[];
}

export interface SourceNodesOptions extends KeyFilter, StoreOptions {
  /** Whether the root is a group without documents. */
  readonly isPlain?: boolean | undefined;
  /** Whether to find the groups that have consolidated metadata. */
  readonly areDocumentsNew: boolean;
  /** Requests in flight. */
  readonly io: number;
}

export async function sourceNodes(
  root: ZarrArray | ZarrGroup,
  { isPlain, io, signal, ...options }: SourceNodesOptions,
): Promise<SourceNodes> {
  const all: ZarrNode[] = isPlain ? [] : [root];
  const filter = pathFilter(options);
  const excluded: string[] = [];
  const warnings: NodeWarning[] = [];
  if (root.kind === "group" && !isPlain) {
    const isLeftOut = (path: string) => filter?.isExcluded(belowPath(root.path, path)) === true;
    const walking = { isLeftOut, onLeftOut: (path: string) => excluded.push(path), signal };
    for await (const node of walkPastBroken(root, walking)) {
      if (node.kind !== "broken") {
        all.push(node);
        continue;
      }
      const path = belowPath(root.path, node.path);
      if (filter?.isTaken(path) !== false) throw node.error;
      excluded.push(node.path);
      warnings.push({
        path,
        message: `this cannot be read, and is left out with all below it: ${node.error.message}`,
        hint: "Name it with --exclude if it is to be left out.",
      });
    }
  }
  const chosen = filter ? takenNodes(all, filter) : all;
  const reading = { io, signal };
  const separated = withChunkSeparators(chosen, reading);
  const consolidating = options.areDocumentsNew ? consolidatedGroups(chosen, reading) : undefined;
  await Promise.allSettled([separated, consolidating]);
  const taken = await separated;
  const consolidated = await consolidating;
  return { all, taken, excluded, warnings, ...(consolidated && { consolidated }) };
}

/** Paths of the groups that have consolidated metadata. */
export async function consolidatedGroups(
  nodes: readonly ZarrNode[],
  { io, signal }: Pick<SourceNodesOptions, "io" | "signal">,
): Promise<string[]> {
  const found = new Set<string>();
  const lookAt = async (node: ZarrNode, context: { readonly signal: AbortSignal }) => {
    if (node.kind === "group" && (await hasConsolidated(node, context.signal))) found.add(node.path);
  };
  await forEachConcurrent(nodes, lookAt, { concurrency: io, signal });
  return nodes.flatMap(({ path }) => (found.has(path) ? [path] : []));
}

/** What the metadata of the nodes that are taken become: in the target's format, and with what was asked for. */
export async function wantedMetadata(
  root: ZarrArray | ZarrGroup,
  all: readonly ZarrNode[],
  taken: readonly ZarrNode[],
  to: ZarrFormat,
  options: Changes & SliceReading,
) {
  const takenByPath = new Map(taken.map((node) => [node.path, node]));
  const sources = all.map((node) => takenByPath.get(node.path) ?? node);
  const converted = await nodesInFormatOf(to, root, sources, options.signal);
  const metadataOf = ({ path, metadata }: ZarrNode) => converted.metadata.get(path) ?? metadata;
  const inFormat = taken.map((node) => ({ path: node.path, metadata: metadataOf(node) }));
  const axes = await axesOf(root, inFormat, options);
  const opened = { root, nodes: inFormat, axes };
  const { option, labels } = await nodesByIndices(options.slice, { root, all, taken, axes }, options);
  const selections = await selectionsOf(option, opened);
  const { change, kept } = changeOf(options, opened, selections);
  return { converted, change, kept, labels, cutImages: await cutImagesOf(root, inFormat, selections) };
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

async function cutImagesOf(
  root: ZarrArray | ZarrGroup,
  nodes: OpenedNodes["nodes"],
  selections: ReadonlyMap<string, Selection>,
): Promise<ReadonlyMap<string, NodeMetadata>> {
  if (root.kind === "array" || selections.size === 0) return new Map();
  const { groupsOfCutImages } = await import("./image-slice.ts");
  return groupsOfCutImages(nodes, selections);
}

/** Names that a level of an image has from the group above, where that stays behind and the target's format has names. */
async function axesToWrite(
  root: ZarrArray | ZarrGroup,
  to: ZarrFormat,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | undefined> {
  if (root.kind === "group" || to !== "v3") return undefined;
  return axesFromAbove(root, signal);
}
