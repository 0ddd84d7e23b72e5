import type { Store, StoreOptions } from "../stores/store.ts";

/** A metadata document as it was read. */
export interface StoredDocument {
  readonly bytes: Uint8Array;
  /** What distinguishes it from a later one at its key, where the store knows that. */
  readonly version: string | undefined;
}

/** Documents of a store as they were read, by key. */
export type StoredDocuments = ReadonlyMap<string, StoredDocument>;

/** Reads a document; undefined where there is none. */
export async function readDocument(
  store: Store,
  key: string,
  { signal }: StoreOptions = {},
): Promise<StoredDocument | undefined> {
  let version: string | undefined;
  const onVersion = (of: string) => {
    version = of;
  };
  const bytes = await store.get(key, { onVersion, signal });
  return bytes && { bytes, version };
}
