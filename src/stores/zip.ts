import type { RangeReader } from "../util/byte-range.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { Store, StoreOptions } from "./store.ts";
import { machineFiles } from "./store-spec.ts";
import { ZipStore, type ZipStoreOptions } from "./zip/zip-store.ts";

export type { StoreFinding as ZipFinding } from "./store.ts";
export type { ByteSink } from "./writer.ts";
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

/**
 * Opens a value of a store for reading in parts. Takes ownership of the store and closes it, even on failure.
 *
 * @throws `not-found` if the value does not exist.
 */
export async function openValueReader(
  store: Store,
  key: string,
  { signal }: StoreOptions = {},
): Promise<RangeReader> {
  try {
    let version: string | undefined;
    const noteVersion = (of: string) => {
      version = of;
    };
    const size = await store.size(key, { onVersion: noteVersion, signal });
    if (size === undefined) {
      throw new ZarrflowError("not-found", "the value does not exist", { store: store.description, key });
    }
    return new ValueReader(store, key, { size, version });
  } catch (error) {
    await store.close?.();
    throw error;
  }
}

class ValueReader implements RangeReader {
  readonly size: number;
  readonly remote = true;
  readonly #store: Store;
  readonly #key: string;
  /** Version in the first answer that has one; all later reads must match it. */
  #version: string | undefined;

  constructor(store: Store, key: string, { size, version }: { size: number; version: string | undefined }) {
    this.#store = store;
    this.#key = key;
    this.size = size;
    this.#version = version;
  }

  async read(
    offset: number,
    length: number,
    { signal, into }: Parameters<RangeReader["read"]>[2] = {},
  ): Promise<Uint8Array> {
    const allocate = (byteLength: number) =>
      into?.length === byteLength ? into : new Uint8Array(byteLength);
    const ifVersion = this.#version;
    const noteVersion = (of: string) => {
      this.#version ??= of;
    };
    const onVersion = ifVersion === undefined ? noteVersion : undefined;
    const range = { offset, length };
    const bytes = await this.#store.get(this.#key, { range, allocate, ifVersion, onVersion, signal });
    if (bytes?.length === length) return bytes;
    throw new ZarrflowError("source-changed", "the value was truncated while it was being read", {
      store: this.#store.description,
      key: this.#key,
      expected: length,
      found: bytes?.length ?? 0,
    });
  }

  async version(): Promise<string | undefined> {
    return this.#version;
  }

  async close(): Promise<void> {
    await this.#store.close?.();
  }
}
