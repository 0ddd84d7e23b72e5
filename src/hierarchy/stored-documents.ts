import { DEFAULT_MAX_METADATA } from "../meta/formats.ts";
import type { Store, StoreOptions } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";

/** A metadata document as it was read. */
export interface StoredDocument {
  readonly bytes: Uint8Array;
  /** What distinguishes it from a later one at its key, where the store knows that. */
  readonly version: string | undefined;
}

/** Documents of a store as they were read, by key. */
export type StoredDocuments = ReadonlyMap<string, StoredDocument>;

export interface ReadDocumentOptions extends StoreOptions {
  /**
   * Bytes that the document may have.
   *
   * @default 33,554,432
   */
  readonly maxMetadata?: number | undefined;
}

/**
 * Reads a document; undefined where there is none. Its size is checked before memory is taken for it.
 *
 * @throws `resource-limit` for one that is too large; what the store throws.
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
  const check = (size: number) => {
    if (size > maxMetadata) throw tooLarge(store.description, key, size, maxMetadata);
  };
  const allocate = (byteLength: number) => {
    check(byteLength);
    return new Uint8Array(byteLength);
  };
  const bytes = await store.get(key, { allocate, maxBytes: maxMetadata, onVersion, signal });
  check(bytes?.length ?? 0);
  return bytes && { bytes, version };
}

function tooLarge(store: string, key: string, found: number, limit: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the metadata document is too large", {
    store,
    key,
    expected: `at most ${limit} bytes`,
    found: `${found} bytes`,
    hint: "Raise the limit with `maxMetadata`, or `--max-metadata` of the command.",
  });
}
