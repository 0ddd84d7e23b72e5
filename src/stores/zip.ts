import { machineFiles } from "./machine-files.ts";
import type { Store } from "./store.ts";
import { openValueReader } from "./zip/value-reader.ts";
import { ZipStore, type ZipStoreOptions } from "./zip/zip-store.ts";

export type { ByteSink } from "./byte-sink.ts";
export type { StoreFinding as ZipFinding } from "./store.ts";
export { type ZipPlace, zipInStore, zipIntoStream } from "./zip/zip-places.ts";
export { ZipStore, type ZipStoreOptions } from "./zip/zip-store.ts";
export { ZipWriter, type ZipWriterOptions } from "./zip/zip-writer.ts";

/**
 * Opens a zip archive that is a file.
 *
 * @throws `not-found`, and as {@link ZipStore.open}.
 * @example
 * ```ts
 * import { openZipFile } from "zarrflow/stores/zip";
 *
 * const store = await openZipFile("archive.zarr.zip");
 * console.log(await store.get("no/such/key")); // undefined
 * await store.close();
 * ```
 */
export async function openZipFile(path: string, options: ZipStoreOptions = {}): Promise<ZipStore> {
  return ZipStore.open(await machineFiles().openFile(path), `zip ${path}`, options);
}

/**
 * Opens a zip archive that is a value of another store. Closing the zip also closes that store.
 *
 * @throws `not-found`, and as {@link ZipStore.open}.
 */
export async function openZipValue(
  store: Store,
  key: string,
  options: ZipStoreOptions = {},
): Promise<ZipStore> {
  const reader = await openValueReader(store, key, options);
  return ZipStore.open(reader, `zip ${store.description}/${key}`, options);
}
