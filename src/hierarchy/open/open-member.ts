import type { Documents } from "../../meta/format.ts";
import { isListable } from "../../stores/store.ts";
import { foundOnce } from "../../util/awaitable.ts";
import { carriesConsolidated, consolidatedOf } from "../consolidated.ts";
import type { ZarrGroup, ZarrNode } from "../node.ts";
import type { StoredDocument, StoredDocuments } from "../stored-documents.ts";
import { nodeIn } from "./node-in.ts";
import { openNode } from "./open-node.ts";

/** The documents below a group that its consolidated metadata list, with the stored documents that list them. */
interface ListedDocuments {
  readonly documents: Documents;
  readonly stored: StoredDocuments;
}

/** Listed documents of open groups, each read once. */
const listed = new WeakMap<ZarrGroup, Promise<ListedDocuments | undefined>>();

/**
 * Opens the node at a path below a group, in the format of the group. Uses the group's consolidated metadata if they
 * are in its own document or the store cannot list, otherwise the node's own documents. Undefined if there is no such
 * node.
 *
 * @throws as `openNode`
 */
export async function openMember(
  group: ZarrGroup,
  path: string,
  signal: AbortSignal | undefined,
): Promise<ZarrNode | undefined> {
  if (path === group.path) return group;
  const { store, spec, layout, reading } = group;
  const options = { ...reading, spec, zarrFormat: layout.zarrFormat };
  const known = await foundOnce(listed, group, () => readListed(group), signal);
  const node =
    known &&
    nodeIn(known.documents, store, path, { ...options, stored: known.stored, areConsolidated: true });
  return node ?? openNode(store, path, { ...options, isInside: true, isSparing: true, signal });
}

async function readListed(group: ZarrGroup): Promise<ListedDocuments | undefined> {
  if (group.consolidated) return { documents: group.consolidated, stored: group.stored };
  if (!carriesConsolidated(group.layout) && isListable(group.store)) return undefined;
  const stored = new Map<string, StoredDocument>();
  const documents = await consolidatedOf(group, { stored });
  return documents && { documents, stored };
}
