import { throwIfAborted } from "../../util/abort.ts";
import { sortUtf8 } from "../../util/names.ts";
import type { ReadableStream } from "../../util/web-streams.ts";
import { assertKey, isKey } from "../key.ts";
import { type KeyIndex, listKeys, listLevel } from "../sorted-keys.ts";
import type {
  GetOptions,
  KeyEntry,
  ListableStore,
  ListedEntry,
  ListOptions,
  StoreFinding,
  VersionOptions,
} from "../store.ts";
import { markNativeStore } from "../store-traits.ts";
import { assertMissing, assertVersion } from "../version.ts";
import { type BlobLike, browserError } from "./handles.ts";
import { blobVersion, readBlob } from "./read-blob.ts";

/**
 * A read-only store of files that the user chose or dropped, by key, for browsers that give access to files but
 * not to folders. All methods throw `source-changed` if a file has changed since it was chosen.
 *
 * @example
 * ```ts
 * import { FilesStore } from "zarrflow/stores/file-system";
 *
 * const store = new FilesStore([["t2m/.zattrs", new Blob(["{}"])]]);
 * console.log(await store.size("t2m/.zattrs")); // 2
 * ```
 */
export class FilesStore implements ListableStore {
  static {
    markNativeStore(FilesStore.prototype);
  }

  readonly description: string;
  /** Files whose paths are not keys. */
  readonly findings: readonly StoreFinding[];
  readonly #files: ReadonlyMap<string, BlobLike>;
  readonly #index: KeyIndex;

  constructor(files: Iterable<readonly [key: string, file: BlobLike]>, description = "selected files") {
    const all = [...files];
    this.description = description;
    this.#files = new Map(all.filter(([key]) => isKey(key)));
    this.findings = all.flatMap(([key]) =>
      isKey(key) ? [] : [{ key, message: "file skipped: its path is not a valid key" }],
    );
    const sorted = sortUtf8([...this.#files.keys()]);
    this.#index = { sortedKeys: () => sorted, sizeOf: (key) => this.#files.get(key)?.size };
  }

  /**
   * Makes a store of the files of `<input type="file" webkitdirectory>`. Keys are their paths without the name of
   * the chosen folder.
   */
  static ofInput(
    files: Iterable<BlobLike & { readonly name: string; readonly webkitRelativePath: string }>,
  ): FilesStore {
    const all = [...files];
    const folder = all[0]?.webkitRelativePath.split("/", 1)[0] ?? "";
    const entries = all.map((file) => [file.webkitRelativePath.slice(folder.length + 1), file] as const);
    return new FilesStore(entries, `folder ${folder}`);
  }

  async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    const file = this.#find(key, options);
    if (file === undefined) return assertMissing(options);
    try {
      return await readBlob(file, options);
    } catch (error) {
      throw browserError(error, { store: this.description, key });
    }
  }

  async size(key: string, options: VersionOptions = {}): Promise<number | undefined> {
    return this.#find(key, options)?.size;
  }

  list(prefix: string, options: ListOptions = {}): ReadableStream<KeyEntry> {
    return listKeys(this.#index, prefix, options);
  }

  listDirectory(prefix: string, options: ListOptions = {}): ReadableStream<ListedEntry> {
    return listLevel(this.#index, prefix, options);
  }

  #find(key: string, options: GetOptions): BlobLike | undefined {
    throwIfAborted(options.signal);
    assertKey(key);
    const file = this.#files.get(key);
    if (file) assertVersion(options, blobVersion(file));
    return file;
  }
}
