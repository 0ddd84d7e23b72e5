import { readConsolidatedV2 } from "../meta/consolidated.ts";
import type { DocumentLimits, Documents, NodeLayout } from "../meta/format.ts";
import { formatNamed } from "../meta/formats.ts";
import { joinKey } from "../meta/join-key.ts";
import { readConsolidatedV3 } from "../meta/v3/consolidated.ts";
import { isPageInPlace } from "../stores/http/http-failure.ts";
import type { Store } from "../stores/store.ts";
import { isZarrflowError } from "../util/errors.ts";
import type { ZarrGroup } from "./node.ts";
import { type ReadDocumentOptions, readDocument, type StoredDocument } from "./stored-documents.ts";

/** Whether a group has consolidated metadata, which must then stay true. */
export async function hasConsolidated(group: ZarrGroup, signal?: AbortSignal): Promise<boolean> {
  const { store, layout } = group;
  if (layout.consolidatedKey === undefined) return false;
  if (carriesConsolidated(layout)) return (await consolidatedOf(group)) !== undefined;
  // of S3 the answer to a HEAD would not tell a missing key from a missing bucket, which would be asked for then
  const first = { range: { offset: 0, length: 1 }, signal };
  return (await store.get(layout.consolidatedKey, first)) !== undefined;
}

/** Whether a group's own document carries its consolidated metadata, so that they come with it. */
export function carriesConsolidated({ documentKeys, consolidatedKey = "" }: NodeLayout): boolean {
  return documentKeys.includes(consolidatedKey);
}

/** How consolidated metadata are read. */
export interface ConsolidatedOptions extends ReadDocumentOptions {
  /** Gets the document that holds them, as it was read. */
  readonly stored?: Map<string, StoredDocument>;
}

/**
 * The documents that a group has consolidated, by key; undefined when it has none.
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
 * The documents that a v2 group at `path` has consolidated, by key; undefined when it has none.
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

/** The documents that the `zarr.json` of the group at `path` has consolidated. @throws `invalid-metadata` */
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
    if (isPageInPlace(error)) return undefined; // so some servers answer for what is missing
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
