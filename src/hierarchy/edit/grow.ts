import type { WritableStore } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { ZarrArray, ZarrNode } from "../node.ts";
import { openNode } from "../open/open-node.ts";
import { editedAlong } from "../other-format.ts";
import type { ReadDocumentOptions } from "../stored-documents.ts";
import { ConsolidatedMetadata } from "./consolidated.ts";
import { changedDocuments } from "./metadata.ts";

/** An array, by its own documents, and the shape that it gets. */
export interface Growth {
  readonly node: ZarrArray;
  readonly shape: readonly number[];
}

export interface GrowOptions extends ReadDocumentOptions {
  /** Paths of the groups whose consolidated metadata list the arrays. */
  readonly groups: readonly string[];
}

/**
 * Gives arrays of a store longer shapes, whose chunks are there: each array reads as before or as after at every moment.
 * Consolidated metadata change first, and so for all arrays at once; then the documents of the arrays, in their order. After
 * a failure they say again what they said before.
 *
 * @throws `target-exists` when an array is not what it was any more.
 */
export async function growArrays(
  store: WritableStore,
  growths: readonly Growth[],
  { groups, ...reading }: GrowOptions,
): Promise<void> {
  const before = new Map<string, Uint8Array>();
  const after = new Map<string, Uint8Array>();
  for (const { node, shape } of growths) {
    const now = await arrayNow(node, reading);
    const other = await editedAlong(now, reading);
    for (const described of [now, other]) {
      if (described?.kind !== "array") continue;
      for (const [key, bytes] of changedDocuments(described, { ...described.metadata, shape }, undefined)) {
        const old = described.documents.get(key);
        if (bytes === undefined || old === undefined) throw changedMeanwhile(node);
        before.set(key, old);
        after.set(key, bytes);
      }
    }
  }
  const consolidated = await ConsolidatedMetadata.find(store, groups, reading);
  try {
    await consolidated.write({ written: after });
    for (const [key, bytes] of after) await store.set(key, bytes, { signal: reading.signal });
  } catch (error) {
    for (const [key, bytes] of before) await store.set(key, bytes).catch(() => {});
    await consolidated.write({ written: before }).catch(() => {});
    throw error;
  }
}

/** An array as its own documents have it now, which must be as they were. */
async function arrayNow(node: ZarrArray, reading: ReadDocumentOptions): Promise<ZarrArray> {
  const { store, path, layout, metadata, spec } = node;
  const asked = { ...node.reading, ...reading, spec, zarrFormat: layout.zarrFormat };
  const found = await openNode(store, path, asked);
  if (found?.kind === "array" && `${found.shape}` === `${metadata.shape}`) return found;
  throw changedMeanwhile(node);
}

function changedMeanwhile({ store, path }: ZarrNode): ZarrflowError {
  return new ZarrflowError("target-exists", "the target has changed since the append was planned", {
    store: store.description,
    path,
    hint: "Start again.",
  });
}
