import { type ArrayMetadata, gridShape, type NodeMetadata } from "../../meta/array-metadata.ts";
import type { NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { DOCUMENT_NAMES, isNamedDocument } from "../../stores/key.ts";
import { isListable, type ListableStore, type WritableStore } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import { checkedOptions, type OptionNames } from "../../util/options.ts";
import { coordsOf } from "../../util/shape.ts";
import { keysBelow } from "../open/walk.ts";
import { withLockedPlace } from "../parent-hierarchy.ts";
import { refreshConsolidated } from "./consolidated.ts";
import { followMember } from "./followers.ts";
import { type EditSource, nodeToEdit, parentHierarchyOfNode } from "./parent.ts";

export interface DeleteOptions {
  /** Maximum number of requests in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const DELETE_OPTIONS: OptionNames<DeleteOptions> = {
  concurrency: true,
  signal: true,
};

/**
 * Deletes a node, given open or by its URL, with everything below it. Documents are deleted first, its own before those
 * below, then all other keys, so that an interruption leaves no array with missing chunks. Consolidated metadata of the
 * groups above are updated. Deleting the root leaves an empty store, except for documents shared by the hierarchy.
 *
 * @throws `unsupported-operation` if the store is not writable, or for a group if it cannot list; `locked` while
 *   another run writes there.
 * @example
 * ```ts
 * import { deleteNode } from "zarrflow";
 *
 * await deleteNode("era5.zarr/t2m");
 * ```
 */
export async function deleteNode(source: EditSource, given: DeleteOptions = {}): Promise<void> {
  const options = checkedOptions(given, DELETE_OPTIONS);
  const node = await nodeToEdit(source, options.signal);
  const hierarchyAround = await parentHierarchyOfNode(node);
  const { store, path } = hierarchyAround;
  const layout = formatNamed(node.layout.zarrFormat).layout(path);
  const reading = { maxMetadata: node.reading.maxMetadata, signal: options.signal };
  const change = async () => {
    await deleteKeys(store, layout, node.metadata, options);
    return { removed: path, written: new Map() };
  };
  const remove = async () => {
    await followMember(hierarchyAround, node, { gone: path }, reading);
    await refreshConsolidated(store, { groups: ancestorPaths(path), nodes: [path] }, change, reading);
  };
  await withLockedPlace(hierarchyAround, remove, reading);
}

/** Deletes all keys of a node without changing the groups above. @throws as `deleteNode` */
export async function deleteKeys(
  store: WritableStore,
  layout: NodeLayout,
  metadata: NodeMetadata,
  { concurrency = 16, signal }: DeleteOptions,
): Promise<void> {
  const removeAll = (keys: Iterable<string> | AsyncIterable<string>) =>
    forEachConcurrent(keys, (key) => store.delete(key, { signal }), { concurrency, signal });
  const ownDocuments = ownDocumentKeys(layout);
  if (isListable(store)) {
    const isDocument = (key: string) => isDocumentKey(key, layout);
    await removeAll(ownDocuments);
    await removeAll(listedKeys(store, layout, signal, isDocument));
    await removeAll(listedKeys(store, layout, signal));
  } else if (metadata.kind === "array") {
    await removeAll(ownDocuments);
    await removeAll(chunkKeys(layout, metadata));
  } else {
    throw new ZarrflowError("unsupported-operation", "this store cannot list the members of a group", {
      store: store.description,
      path: layout.path,
      hint: "Delete its arrays one by one.",
    });
  }
}

/** Keys of the node's documents, including those of another format in the same folder. */
function ownDocumentKeys({ documentKeys, membersPrefix }: NodeLayout): readonly string[] {
  const isFolder = documentKeys.every((key) => key.startsWith(membersPrefix));
  return isFolder ? DOCUMENT_NAMES.map((name) => membersPrefix + name) : documentKeys;
}

/** True for keys of documents: of this format, or of another one in the same folders. */
export function isDocumentKey(key: string, { hierarchy }: NodeLayout): boolean {
  return isNamedDocument(key) || hierarchy.nodeOf(key) !== undefined;
}

async function* listedKeys(
  store: ListableStore,
  layout: NodeLayout,
  signal: AbortSignal | undefined,
  isWanted: (key: string) => boolean = () => true,
): AsyncGenerator<string> {
  for await (const { key } of keysBelow(store, layout, { signal })) if (isWanted(key)) yield key;
}

function* chunkKeys(
  layout: NodeLayout,
  { shape, chunkGrid, chunkKeyEncoding }: ArrayMetadata,
): Generator<string> {
  for (const coords of coordsOf(gridShape(shape, chunkGrid.chunkShape))) {
    yield layout.chunkKey(coords, chunkKeyEncoding);
  }
}
