import { DEFAULT_MAX_METADATA } from "../meta/format.ts";
import { isOnlyDocument } from "../stores/key.ts";
import { type Store, type StoreOptions, type TooLarge, valueAtMost } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";

/** A metadata document as it was read. */
export interface StoredDocument {
  readonly bytes: Uint8Array;
  /** Version that distinguishes it from later contents of its key; undefined if the store has none. */
  readonly version: string | undefined;
}

/** Documents of a store as they were read, by key. */
export type StoredDocuments = ReadonlyMap<string, StoredDocument>;

export interface ReadDocumentOptions extends StoreOptions {
  /**
   * Maximum size of the document in bytes.
   *
   * @default 33,554,432
   */
  readonly maxMetadata?: number | undefined;
}

/**
 * Reads a document; undefined if it does not exist. Its size is checked before memory is allocated.
 *
 * @throws `resource-limit` if it is too large; what the store throws.
 */
export async function readDocument(
  store: Pick<Store, "description" | "get">,
  key: string,
  { maxMetadata = DEFAULT_MAX_METADATA, signal }: ReadDocumentOptions = {},
): Promise<StoredDocument | undefined> {
  let version: string | undefined;
  const onVersion = (of: string) => {
    version = of;
  };
  const tooLarge: TooLarge = (found, limit) => tooLargeDocument(store.description, found, limit);
  const isLeaf = isOnlyDocument(key);
  const bytes = await valueAtMost(store, key, maxMetadata, { isLeaf, tooLarge, onVersion, signal });
  return bytes && { bytes, version };
}

/** As `readDocument`, with a blocking call; undefined if the store needs an asynchronous one. */
export function readDocumentSync(
  store: Pick<Store, "getSync">,
  key: string,
  maxBytes: number = DEFAULT_MAX_METADATA,
): { readonly document: StoredDocument | undefined } | undefined {
  let version: string | undefined;
  const onVersion = (of: string) => {
    version = of;
  };
  const found = store.getSync?.(key, { maxBytes: Math.min(maxBytes, MAX_SYNC_BYTES), onVersion });
  return found && { document: found.bytes && { bytes: found.bytes, version } };
}

/** Larger documents are read asynchronously: they would block the thread for too long. */
const MAX_SYNC_BYTES = 2 ** 20;

function tooLargeDocument(store: string, found: number, limit: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the metadata document is too large", {
    store,
    expected: `at most ${limit} bytes`,
    found: `${found} bytes`,
    hint: "Raise the limit with `maxMetadata` (--max-metadata).",
  });
}
