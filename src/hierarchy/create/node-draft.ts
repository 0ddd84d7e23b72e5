import type { NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import type { Documents, Finding, NodeLayout } from "../../meta/format.ts";
import type { WritableStore } from "../../stores/store.ts";

export interface PlaceOptions {
  readonly zarrFormat?: ZarrFormat | undefined;
  /** What is to be made. */
  readonly kind: NodeMetadata["kind"];
  readonly ifExists?: "error" | "replace" | undefined;
  readonly allowUnicode?: boolean | undefined;
  /** Refuses a place below which there are keys, though none of a node at it. */
  readonly mustBeEmpty?: boolean | undefined;
  /** Bytes that a document which is there may have. */
  readonly maxMetadata?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A place where a node can be made; nothing is changed before `begin`. */
export interface OpenCreateTarget {
  /** Where its keys lie in the store that it is made in. */
  readonly layout: NodeLayout;
  begin(metadata: NodeMetadata): Promise<NodeDraft>;
}

/** A node while it is being made. */
export interface NodeDraft {
  readonly store: WritableStore;
  readonly layout: NodeLayout;
  /** What finding its place noticed and went on over. */
  readonly findings?: readonly Finding[];
  /** Writes its documents, and makes it visible; `undo` removes its other keys. */
  publish(documents: Documents, undo: () => Promise<void>): Promise<void>;
  /** Leaves nothing of it behind; `undo` removes the keys that were written. */
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
