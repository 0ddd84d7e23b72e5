import { throwIfAborted } from "../util/abort.ts";
import { folderOf, lastName } from "../util/node-path.ts";
import { type ReadableStream, streamFromPages } from "../util/web-streams.ts";
import { FolderTree, PendingFile, whenFree } from "./file-system/folder-tree.ts";
import { type BlobLike, browserError, type FolderHandle, isBrowserError } from "./file-system/handles.ts";
import { BlobReader, blobVersion, Gathered, readBlob } from "./file-system/read-blob.ts";
import { assertKey, assertPrefix } from "./key.ts";
import { assertNotOwn } from "./reserved-names.ts";
import type {
  GetOptions,
  KeyEntry,
  ListableStore,
  ListedEntry,
  ListOptions,
  StoreOptions,
  StoreWriter,
  VersionOptions,
  WritableStore,
} from "./store.ts";
import { markNativeStore } from "./store-traits.ts";
import { assertMissing, assertVersion, folderInPlace } from "./version.ts";
import { serialized } from "./writer.ts";
import { ZipStore, type ZipStoreOptions } from "./zip/zip-store.ts";

export { FilesStore } from "./file-system/files-store.ts";
export type { BlobLike, FileHandle, FileWritable, FolderHandle } from "./file-system/handles.ts";

/** Number of keys in one page of a listing. */
const PAGE = 256;

/**
 * Files below a folder of a browser: the site's own (`navigator.storage.getDirectory()`), or a folder of the disk
 * that the user chose (`showDirectoryPicker()`) or dropped (`getAsFileSystemHandle()`). Keys are their relative
 * paths.
 *
 * A value is written to a file `.zarrflow-…` beside its place, and moved there when it is complete. Browsers that
 * cannot move files copy it, and a killed page can then leave an empty file. There is no lock: two pages that
 * write one array at the same time mix their chunks.
 *
 * All methods throw `access-denied`, `no-space`, `locked` and `source-changed` when calls of the browser fail.
 *
 * @example
 * ```js
 * import { open } from "zarrflow";
 * import { FileSystemStore } from "zarrflow/stores/file-system";
 *
 * const node = await open(new FileSystemStore(await navigator.storage.getDirectory()));
 * ```
 */
export class FileSystemStore implements ListableStore, WritableStore {
  static {
    markNativeStore(FileSystemStore.prototype);
  }

  readonly description: string;
  readonly #folders: FolderTree;

  /** @param folder a `FileSystemDirectoryHandle` */
  constructor(
    folder: FolderHandle,
    description = folder.name ? `folder ${folder.name}` : "folder of the site",
  ) {
    this.description = description;
    this.#folders = new FolderTree(folder);
  }

  async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    return this.#attempt(key, options, async () => {
      const file = await this.#find(key, options.isLeaf);
      if (file === undefined) return assertMissing(options);
      assertVersion(options, blobVersion(file));
      return readBlob(file, options);
    });
  }

  async size(key: string, options: VersionOptions = {}): Promise<number | undefined> {
    return this.#attempt(key, options, async () => {
      const file = await this.#find(key);
      if (file) assertVersion(options, blobVersion(file));
      return file?.size;
    });
  }

  list(prefix: string, { signal, onFolder }: ListOptions = {}): ReadableStream<KeyEntry> {
    assertPrefix(prefix);
    return streamFromPages(this.#pages(this.#folders.keys(prefix, { signal, onFolder })), signal);
  }

  listDirectory(prefix: string, { signal }: StoreOptions = {}): ReadableStream<ListedEntry> {
    assertPrefix(prefix);
    const entries = async function* (folders: FolderTree): AsyncGenerator<ListedEntry> {
      for (const name of await folders.namesIn(prefix, signal))
        yield name.endsWith("/") ? { prefix: prefix + name } : { key: prefix + name };
    };
    return streamFromPages(this.#pages(entries(this.#folders)), signal);
  }

  async set(key: string, bytes: Uint8Array, options: StoreOptions = {}): Promise<void> {
    await this.#attempt(key, options, async () => {
      const file = await PendingFile.create(this.#folders, key);
      try {
        await file.write(bytes);
      } catch (error) {
        await file.discard();
        throw error;
      }
      await file.publish();
    });
  }

  async openWriter(key: string, { signal }: StoreOptions = {}): Promise<StoreWriter> {
    const attempt = <T>(step: () => Promise<T>) => this.#attempt(key, {}, step);
    const file = await this.#attempt(key, { signal }, () => PendingFile.create(this.#folders, key));
    const gathered = new Gathered((bytes) => file.write(bytes), { areKept: false });
    return serialized(
      {
        write: (bytes) => attempt(() => gathered.write(bytes)),
        commit: () =>
          attempt(async () => {
            await gathered.flush();
            await file.publish();
          }),
        abort: () => attempt(() => file.discard()),
      },
      key,
      signal,
    );
  }

  /** Also removes the folders that become empty. */
  async delete(key: string, options: StoreOptions = {}): Promise<void> {
    await this.#attempt(key, options, async () => {
      const folder = await this.#folders.find(folderOf(key));
      try {
        await folder?.getFileHandle(lastName(key)); // removing the entry would also remove an empty folder
        await whenFree(async () => folder?.removeEntry(lastName(key)));
      } catch (error) {
        if (!isBrowserError(error, "NotFoundError", "TypeMismatchError")) throw error;
        return;
      }
      await this.#folders.prune(folderOf(key));
    });
  }

  async #find(key: string, isLeaf = false): Promise<BlobLike | undefined> {
    const folder = await this.#folders.find(folderOf(key));
    try {
      return await (await folder?.getFileHandle(lastName(key)))?.getFile();
    } catch (error) {
      if (isLeaf && isBrowserError(error, "TypeMismatchError")) throw folderInPlace();
      if (isBrowserError(error, "NotFoundError", "TypeMismatchError")) return undefined;
      throw error;
    }
  }

  async *#pages<T>(entries: AsyncIterable<T>): AsyncGenerator<T[]> {
    let page: T[] = [];
    try {
      for await (const entry of entries) {
        if (page.push(entry) < PAGE) continue;
        yield page;
        page = [];
      }
    } catch (error) {
      throw browserError(error, { store: this.description });
    }
    yield page;
  }

  async #attempt<T>(key: string, { signal }: StoreOptions, step: () => Promise<T>): Promise<T> {
    throwIfAborted(signal);
    assertKey(key);
    assertNotOwn(key);
    try {
      return await step();
    } catch (error) {
      throw browserError(error, { store: this.description, key });
    }
  }
}

/**
 * Opens a zip archive that is a blob, such as a file that the user chose or dropped. It is read in ranges.
 *
 * @param file a `File` or a `Blob`
 * @throws as `ZipStore.open`; `source-changed` if the file has changed since it was chosen.
 * @example
 * ```ts
 * import { openZipBlob } from "zarrflow/stores/file-system";
 *
 * const emptyZip = new Blob([Uint8Array.of(0x50, 0x4b, 5, 6), new Uint8Array(18)]);
 * const store = await openZipBlob(emptyZip);
 * console.log(await store.get("no/such/key")); // undefined
 * ```
 */
export async function openZipBlob(
  file: BlobLike & { readonly name?: string },
  options: ZipStoreOptions = {},
): Promise<ZipStore> {
  const description = `zip ${file.name ?? "in memory"}`;
  return ZipStore.open(new BlobReader(file, description), description, options);
}
