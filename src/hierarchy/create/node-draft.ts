import type { NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import type { Documents, Finding, NodeLayout } from "../../meta/format.ts";
import type { WritableStore } from "../../stores/store.ts";

export interface PlaceOptions {
  readonly zarrFormat?: ZarrFormat | undefined;
  /** Kind of the new node. */
  readonly kind: NodeMetadata["kind"];
  readonly ifExists?: "error" | "replace" | undefined;
  readonly allowUnicode?: boolean | undefined;
  /** Rejects a place with keys below it, even if there is no node. */
  readonly mustBeEmpty?: boolean | undefined;
  /** Maximum size of existing documents in bytes. */
  readonly maxMetadata?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A place for a new node; nothing is changed before `begin`. */
export interface OpenCreateTarget {
  /** Layout of its keys in the store in which it is created. */
  readonly layout: NodeLayout;
  begin(metadata: NodeMetadata): Promise<NodeDraft>;
}

/** A node that is being created. */
export interface NodeDraft {
  readonly store: WritableStore;
  readonly layout: NodeLayout;
  /** Problems found in the hierarchy around it that did not prevent creation. */
  readonly findings?: readonly Finding[];
  /** Writes its documents and makes it visible; `undo` removes its other keys. */
  publish(documents: Documents, undo: () => Promise<void>): Promise<void>;
  /** Removes it; `undo` removes the keys that were written. */
  discard(undo: () => Promise<void>, reason: unknown): Promise<void>;
}

/** Writes the documents of a draft, in their order. */
export async function writeDocuments(
  store: WritableStore,
  documents: Documents,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const [key, bytes] of documents) await store.set(key, bytes, { signal });
}
