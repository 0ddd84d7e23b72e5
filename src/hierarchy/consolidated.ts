import { readConsolidatedV2 } from "../meta/consolidated.ts";
import type { DocumentLimits, Documents, NodeLayout } from "../meta/format.ts";
import { formatNamed } from "../meta/formats.ts";
import { readConsolidatedV3 } from "../meta/v3/consolidated.ts";
import { isPageInPlace } from "../stores/http/http-response.ts";
import type { Store } from "../stores/store.ts";
import { isZarrflowError } from "../util/errors.ts";
import { joinKey } from "../util/node-path.ts";
import type { ZarrGroup } from "./node.ts";
import { type ReadDocumentOptions, readDocument, type StoredDocument } from "./stored-documents.ts";

/** Returns true if a group has consolidated metadata, which must then be kept up to date. */
export async function hasConsolidated(group: ZarrGroup, signal?: AbortSignal): Promise<boolean> {
  const { store, layout } = group;
  if (layout.consolidatedKey === undefined) return false;
  if (carriesConsolidated(layout)) return (await consolidatedOf(group)) !== undefined;
  // A HEAD of S3 cannot distinguish a missing key from a missing bucket, which would take another request.
  const first = { range: { offset: 0, length: 1 }, signal };
  return (await store.get(layout.consolidatedKey, first)) !== undefined;
}

/** True if the consolidated metadata are part of the group's own document and are read with it. */
export function carriesConsolidated({ documentKeys, consolidatedKey = "" }: NodeLayout): boolean {
  return documentKeys.includes(consolidatedKey);
}

/** Options for reading consolidated metadata. */
export interface ConsolidatedOptions extends ReadDocumentOptions {
  /** Receives the document with the consolidated metadata, as it was read. */
  readonly stored?: Map<string, StoredDocument>;
}

/**
 * Returns the documents in the consolidated metadata of a group by key; undefined if it has none.
 *
 * @throws `invalid-metadata`, `unsupported-format`, with the key.
 */
export async function consolidatedOf(
  { store, path, layout, documents, stored, reading }: ZarrGroup,
  options: ConsolidatedOptions = {},
): Promise<Documents | undefined> {
  const { consolidatedKey: key, zarrFormat } = layout;
  if (key === undefined) return undefined;
  const isCarried = carriesConsolidated(layout);
  const limits = { ...reading, ...options };
  if (isCarried) for (const [name, document] of stored) options.stored?.set(name, document);
  const bytes = isCarried ? documents.get(key) : await bytesAt(store, key, limits);
  return bytes && at(key, zarrFormat, () => formatNamed(zarrFormat).readConsolidated?.(bytes, path, limits));
}

/**
 * Returns the documents in the consolidated metadata of the v2 group at `path` by key; undefined if it has none.
 *
 * @throws `invalid-metadata`, `unsupported-format`, with the key.
 */
export async function consolidatedV2(
  store: Store,
  path: string,
  options: ConsolidatedOptions,
): Promise<Documents | undefined> {
  const key = joinKey(path, ".zmetadata");
  const bytes = await bytesAt(store, key, options);
  return bytes && at(key, "v2", () => readConsolidatedV2(bytes, path, options));
}

/**
 * Returns the documents in the consolidated metadata of the `zarr.json` of the group at `path`.
 *
 * @throws `invalid-metadata`
 */
export function consolidatedV3(
  bytes: Uint8Array,
  path: string,
  limits?: DocumentLimits,
): Documents | undefined {
  return at(joinKey(path, "zarr.json"), "v3", () => readConsolidatedV3(bytes, path, limits));
}

async function bytesAt(
  store: Store,
  key: string,
  { stored, ...options }: ConsolidatedOptions,
): Promise<Uint8Array | undefined> {
  try {
    const found = await readDocument(store, key, options);
    if (found) stored?.set(key, found);
    return found?.bytes;
  } catch (error) {
    if (isPageInPlace(error)) return undefined; // some servers respond with a page for missing keys
    throw error;
  }
}

function at<T>(key: string, format: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isZarrflowError(error)) error.addContext({ key, format });
    throw error;
  }
}
