import type { NodeMetadata } from "../../meta/array-metadata.ts";
import { formatNamed } from "../../meta/formats.ts";
import { bytesEqual } from "../../meta/number-bytes.ts";
import type { StoreOptions } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import type { ZarrNode } from "../node.ts";
import { openNode } from "../open/open-node.ts";
import { editedAlong } from "../other-format.ts";
import { type ConsolidatedMetadata, refreshConsolidated } from "./consolidated.ts";
import type { ParentHierarchy } from "./parent.ts";

export interface ChangeMetadataOptions extends StoreOptions {
  readonly allowLoss?: readonly string[] | undefined;
}

/**
 * Changes what the documents of a node say, which are read again before, at the node's place in its hierarchy. Only documents that differ are written;
 * consolidated metadata of the node and of the groups above stay true, and so do documents of another format beside its own.
 *
 * @returns the node as it is then.
 * @throws `not-found` when it is gone; `loss-refused`; `unsupported-operation` as `editedAlong`.
 */
export async function changeMetadata(
  node: ZarrNode,
  { store, path }: ParentHierarchy,
  change: (metadata: NodeMetadata) => NodeMetadata | Promise<NodeMetadata>,
  { allowLoss, signal }: ChangeMetadataOptions = {},
): Promise<ZarrNode> {
  const { zarrFormat } = node.layout;
  const found = await openNode(store, path, { ...node.reading, zarrFormat, signal });
  if (!found) {
    throw new ZarrflowError("not-found", "the node has no metadata document of its own to write", {
      store: store.description,
      path,
    });
  }
  const other = await editedAlong(found, { maxMetadata: node.reading.maxMetadata, signal });
  const written = changedDocuments(found, await change(found.metadata), allowLoss);
  const along = other ? changedDocuments(other, await change(other.metadata), allowLoss) : [];
  for (const [key, bytes] of along) written.set(key, bytes);
  const write = async (consolidated: ConsolidatedMetadata) => {
    for (const [key, bytes] of written) {
      if (consolidated.carries(key)) continue;
      if (bytes) await store.set(key, bytes, { signal });
      else await store.delete(key, { signal });
    }
    // an array has left the consolidated metadata, with all its documents
    const before = [...found.documents, ...(other?.documents ?? [])];
    return found.kind === "array" ? { written: new Map([...before, ...written]) } : { written };
  };
  // the members of a group stay what they are while its own document changes
  const scope = { groups: [...ancestorPaths(path), path], nodes: found.kind === "array" ? [path] : [] };
  const { maxMetadata } = node.reading;
  if (written.size > 0) await refreshConsolidated(store, scope, write, { maxMetadata, signal });
  return (
    (await openNode(node.store, node.path, { ...node.reading, spec: node.spec, zarrFormat, signal })) ?? node
  );
}

/** The documents that differ, by key; undefined for one that is no longer there. */
export function changedDocuments(
  { layout, metadata, reading }: ZarrNode,
  after: NodeMetadata,
  allowLoss: readonly string[] | undefined,
): Map<string, Uint8Array | undefined> {
  const { write } = formatNamed(layout.zarrFormat, reading);
  const old = write(metadata, layout, { allowLoss: ["/attributes"] });
  const changed = new Map<string, Uint8Array | undefined>(write(after, layout, { allowLoss }));
  for (const [key, bytes] of old) {
    const now = changed.get(key);
    if (now === undefined) changed.set(key, undefined);
    else if (bytesEqual(now, bytes)) changed.delete(key);
  }
  return changed;
}
