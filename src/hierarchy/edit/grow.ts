import type { NodeMetadata } from "../../meta/array-metadata.ts";
import type { StoreOptions, WritableStore } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { jsonEqual } from "../../util/json-equal.ts";
import type { ZarrNode } from "../node.ts";
import { openNode } from "../open/open-node.ts";
import { editedAlong } from "../other-format.ts";
import type { ReadDocumentOptions } from "../stored-documents.ts";
import { ConsolidatedMetadata } from "./consolidated.ts";
import type { FollowingNode } from "./followers.ts";
import { alongside, changedDocuments } from "./metadata.ts";

export interface GrowOptions extends ReadDocumentOptions {
  /** Paths of the groups whose consolidated metadata list the nodes. */
  readonly groups: readonly string[];
}

/**
 * Enlarges the shapes of arrays whose new chunks are already written, and updates metadata of nodes around them.
 * Readers see each array either before or after the change. Consolidated metadata change first, for all nodes at once,
 * then the documents in the order of the nodes. A failure restores the previous metadata.
 *
 * @param node one of the arrays, or the group that contains them
 * @throws `target-exists` if a node has changed in the meantime.
 */
export async function growArrays(
  {
    store,
    spec,
    reading: readAs,
    layout,
  }: Pick<ZarrNode, "spec" | "reading" | "layout"> & {
    readonly store: WritableStore;
  },
  growths: readonly FollowingNode[],
  { groups, ...reading }: GrowOptions,
): Promise<void> {
  const before = new Map<string, Uint8Array>();
  const after = new Map<string, Uint8Array | undefined>();
  const asked = { ...readAs, ...reading, spec, zarrFormat: layout.zarrFormat };
  for (const growth of growths) {
    const now = await openNode(store, growth.path, asked);
    if (now === undefined || !isAsBefore(now.metadata, growth.before))
      throw changedMeanwhile(store, growth.path);
    const other = await editedAlong(now, reading);
    for (const described of other ? [now, other] : [now]) {
      const metadata =
        described === now ? growth.metadata : alongside(described.metadata, growth.before, growth.metadata);
      for (const [key, bytes] of changedDocuments(described, metadata, undefined)) {
        const old = described.documents.get(key);
        if (old) before.set(key, old);
        after.set(key, bytes);
      }
    }
  }
  const consolidated = await ConsolidatedMetadata.find(store, groups, reading);
  const write = async (key: string, bytes: Uint8Array | undefined, options: StoreOptions = {}) => {
    if (consolidated.carries(key)) return;
    await (bytes ? store.set(key, bytes, options) : store.delete(key, options));
  };
  try {
    await consolidated.write({ written: after });
    for (const [key, bytes] of after) await write(key, bytes, { signal: reading.signal });
  } catch (error) {
    const back = new Map([...after.keys()].map((key) => [key, before.get(key)]));
    for (const [key, bytes] of back) await write(key, bytes).catch(() => {});
    await consolidated.write({ written: back }).catch(() => {});
    throw error;
  }
}

/** True if the documents of a node are as they were when its change was planned. */
function isAsBefore(now: NodeMetadata, before: NodeMetadata): boolean {
  const isSameShape =
    now.kind === "group" || (before.kind === "array" && `${now.shape}` === `${before.shape}`);
  return now.kind === before.kind && isSameShape && jsonEqual(now.attributes, before.attributes);
}

function changedMeanwhile({ description }: WritableStore, path: string): ZarrflowError {
  return new ZarrflowError("target-exists", "the target has changed since the append was planned", {
    store: description,
    path,
    hint: "Start again.",
  });
}
