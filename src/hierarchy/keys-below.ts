import type { Documents, NodeLayout } from "../meta/format.ts";
import { outerPrefixes } from "../meta/node-layout.ts";
import type { KeyEntry, ListableStore, ListOptions, StoreOptions } from "../stores/store.ts";
import { joinKey } from "../util/node-path.ts";
import type { ZarrNode } from "./node.ts";
import { type WalkOptions, walk } from "./open/walk.ts";
import { inOtherFormat } from "./other-format.ts";

/** Iterates over all keys below a node, in all its folders, except those shared by the whole hierarchy. */
export async function* keysBelow(
  store: ListableStore,
  layout: NodeLayout,
  options: ListOptions = {},
): AsyncGenerator<KeyEntry> {
  const { sharedKeys } = layout.hierarchy;
  for (const prefix of outerPrefixes(layout)) {
    for await (const listed of store.list(prefix, options))
      if (!sharedKeys.includes(listed.key)) yield listed;
  }
}

/** Reads the documents of a node and of all nodes below it, by key. @throws as `walk` */
export async function documentsBelow(node: ZarrNode, { signal }: StoreOptions = {}): Promise<Documents> {
  const documents = new Map(node.documents);
  if (node.kind === "group") {
    for await (const below of walk(node, { signal })) {
      for (const [key, bytes] of below.documents) documents.set(key, bytes);
    }
  }
  const prefix = joinKey(node.path, "");
  return new Map([...documents].filter(([key]) => key.startsWith(prefix)));
}

/**
 * As `documentsBelow`, with documents of another format that describes the same node.
 *
 * @throws as `walk`, `inOtherFormat`
 */
export async function allDocumentsBelow(node: ZarrNode, options: WalkOptions = {}): Promise<Documents> {
  const other = await inOtherFormat(node, options);
  const others = other ? await documentsBelow(other, options) : [];
  return new Map([...(await documentsBelow(node, options)), ...others]);
}
