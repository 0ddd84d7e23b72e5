import { type ArrayMetadata, gridShape, type NodeMetadata } from "../meta/array-metadata.ts";
import type { NodeLayout } from "../meta/dialect.ts";
import { dialectNamed } from "../meta/dialects.ts";
import { joinKey } from "../meta/join-key.ts";
import { isListable, type ListableStore, type WritableStore } from "../stores/store.ts";
import { mapConcurrent } from "../streams/map-concurrent.ts";
import { streamFrom, WritableStream } from "../streams/web.ts";
import { ZarrflowError } from "../util/errors.ts";
import { ancestorPaths } from "../util/node-path.ts";
import { coordsOf } from "../util/shape.ts";
import { keepConsolidated } from "./edit-consolidated.ts";
import { homeOf } from "./edit-home.ts";
import type { ZarrNode } from "./node.ts";

export interface DeleteOptions {
  /** Requests in flight; 16 by default. */
  readonly io?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Names of documents, in all dialects that keep what belongs to a node below its path. */
const DOCUMENTS = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata", "meta", "attrs"];

/**
 * Deletes a node with all below it: documents first, its own before those below, then every other key, so that whoever
 * cuts it short leaves no array that misses chunks. Consolidated metadata of the groups above stay true. The root's
 * node leaves an empty store.
 *
 * @throws `unsupported-operation` for a store that cannot be written, and for a group in one that cannot list.
 * @see V2-3, V3-5
 * @example
 * ```ts
 * import { deleteNode, open } from "zarrflow";
 *
 * await deleteNode(await open("era5.zarr/t2m"));
 * ```
 */
export async function deleteNode(node: ZarrNode, options: DeleteOptions = {}): Promise<void> {
  const { store, path } = await homeOf(node);
  const layout = dialectNamed(node.layout.dialect).layout(path);
  const change = async () => {
    await deleteKeys(store, layout, node.metadata, options);
    return { removed: path, written: new Map() };
  };
  await keepConsolidated(store, ancestorPaths(path), change, { signal: options.signal });
}

/** Deletes all keys of a node, and leaves the groups above as they are. @throws as `deleteNode` */
export async function deleteKeys(
  store: WritableStore,
  layout: NodeLayout,
  metadata: NodeMetadata,
  { io = 16, signal }: DeleteOptions,
): Promise<void> {
  const removeAll = (keys: Iterable<string> | AsyncIterable<string>) =>
    streamFrom(keys)
      .pipeThrough(mapConcurrent((key: string) => store.delete(key, { signal }), { concurrency: io, signal }))
      .pipeTo(new WritableStream());
  const prefix = joinKey(layout.path, "");
  if (!layout.documentKeys.every((key) => key.startsWith(prefix))) {
    throw new ZarrflowError("unsupported-operation", `nodes of ${layout.dialect} cannot be deleted`, {
      path: layout.path,
    });
  }
  const ownDocuments = DOCUMENTS.map((name) => prefix + name);
  if (isListable(store)) {
    await removeAll(ownDocuments);
    await removeAll(listedKeys(store, prefix, signal, isDocument));
    await removeAll(listedKeys(store, prefix, signal));
  } else if (metadata.kind === "array") {
    await removeAll(ownDocuments);
    await removeAll(chunkKeys(layout, metadata));
  } else {
    throw new ZarrflowError("unsupported-operation", "this store cannot list what a group holds", {
      store: store.description,
      path: layout.path,
      hint: "Delete its arrays one by one.",
    });
  }
}

function isDocument(key: string): boolean {
  return DOCUMENTS.includes(key.slice(key.lastIndexOf("/") + 1));
}

async function* listedKeys(
  store: ListableStore,
  prefix: string,
  signal: AbortSignal | undefined,
  isWanted: (key: string) => boolean = () => true,
): AsyncGenerator<string> {
  for await (const { key } of store.list(prefix, { signal })) if (isWanted(key)) yield key;
}

function* chunkKeys(
  layout: NodeLayout,
  { shape, chunkGrid, chunkKeyEncoding }: ArrayMetadata,
): Generator<string> {
  for (const coords of coordsOf(gridShape(shape, chunkGrid.chunkShape))) {
    yield layout.chunkKey(coords, chunkKeyEncoding);
  }
}
