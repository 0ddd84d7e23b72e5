import { constants } from "node:fs";
import { resolve } from "node:path";
import { plainBuffers } from "../util/buffers.ts";
import { resolveRange } from "../util/byte-range.ts";
import { ZarrflowError } from "../util/errors.ts";
import { type ReadableStream, streamFrom } from "../util/web-streams.ts";
import { Folders } from "./directory/folders.ts";
import { namesIn, walkKeys } from "./directory/listing.ts";
import { kindAt, moveTo } from "./directory/rename.ts";
import { openFileWriter, replaceFile, writeFile } from "./directory/value-file.ts";
import { asyncFileCalls, type FileCalls, readFully } from "./file-calls.ts";
import { fileError, hasSystemCode, isMissing } from "./file-error.ts";
import { checkKey, checkPrefix, checkRename, folderOf } from "./key.ts";
import { isOwnName, temporaryName } from "./own-names.ts";
import type {
  GetOptions,
  ListableStore,
  Listed,
  ListedEntry,
  StoreOptions,
  StoreWriter,
  WritableStore,
} from "./store.ts";
import { inTurn } from "./writer.ts";

export interface DirectoryStoreOptions {
  /**
   * The folder is this run's alone until it is published: `set` writes values in place, without a temporary file,
   * and symbolic links are not looked for.
   *
   * @default false
   */
  readonly exclusive?: boolean;
  /** The store in words, for messages. */
  readonly description?: string;
  /** @default asyncFileCalls */
  readonly files?: FileCalls;
}

/** Makes `open` fail on a symbolic link; absent on Windows, where every path is resolved first. */
const NO_LINK: number | undefined = constants.O_NOFOLLOW;
/** Does not wait for the other end of a pipe. */
const READ = constants.O_RDONLY | (NO_LINK ?? 0) | (constants.O_NONBLOCK ?? 0);
/** A folder that others remove while it is being written to is made again so often. */
const ATTEMPTS = 5;

/**
 * Files below a folder: keys are their relative paths, flat (`t2m/0.0`) or nested (`t2m/c/0/0`). Symbolic links may
 * point anywhere inside the folder; to outside they are refused with `path-not-allowed`. An empty folder that another
 * program left is listed as a prefix.
 *
 * All methods throw `access-denied`, `no-space`, `too-many-files` and `transient` as the system's calls fail.
 *
 * @see V2-80, V2-81
 * @example
 * ```ts
 * import { DirectoryStore } from "zarrflow/stores/directory";
 *
 * const store = new DirectoryStore("era5.zarr");
 * for await (const { key } of store.list("t2m/")) console.log(key);
 * ```
 */
export class DirectoryStore implements ListableStore, WritableStore {
  readonly description: string;
  readonly #files: FileCalls;
  readonly #folders: Folders;
  readonly #exclusive: boolean;

  constructor(root: string, options: DirectoryStoreOptions = {}) {
    const { exclusive = false, description = `directory ${root}`, files = asyncFileCalls } = options;
    this.description = description;
    this.#files = files;
    this.#folders = new Folders(resolve(root), files);
    this.#exclusive = exclusive;
  }

  async get(
    key: string,
    { range, allocate = plainBuffers.take, signal }: GetOptions = {},
  ): Promise<Uint8Array | undefined> {
    this.#check(key, signal);
    let fd: number | undefined;
    try {
      fd = await this.#open(key);
      if (fd === undefined) return undefined;
      const info = this.#files.stat(fd);
      if (info.isDirectory()) return undefined;
      if (!info.isFile()) throw new ZarrflowError("corrupt-store", "this is neither a file nor a folder");
      const { offset, length } = resolveRange(range, info.size);
      const bytes = allocate(length);
      const found = await readFully(this.#files, fd, bytes, offset);
      signal?.throwIfAborted();
      if (found < length) {
        throw new ZarrflowError("short-read", "the file became shorter", { expected: length, found });
      }
      return bytes;
    } catch (error) {
      throw this.#error(error, key);
    } finally {
      if (fd !== undefined) this.#files.release(fd);
    }
  }

  async size(key: string, { signal }: StoreOptions = {}): Promise<number | undefined> {
    this.#check(key, signal);
    try {
      if (!(await this.#isReachable(key))) return undefined;
      const info = await this.#files.lstat(this.#folders.pathOf(key));
      const target = info.isSymbolicLink() ? await this.#files.lstat(await this.#folders.follow(key)) : info;
      return target.isFile() ? target.size : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw this.#error(error, key);
    }
  }

  list(prefix: string, { signal }: StoreOptions = {}): ReadableStream<Listed> {
    checkPrefix(prefix);
    const keys = walkKeys(this.#folders, this.#files, prefix, signal);
    return this.#listed(prefix, keys, (key) => ({ key }));
  }

  listDirectory(prefix: string, { signal }: StoreOptions = {}): ReadableStream<ListedEntry> {
    checkPrefix(prefix);
    const names = async function* (folders: Folders, files: FileCalls) {
      signal?.throwIfAborted();
      yield* await namesIn(folders, files, prefix);
    };
    return this.#listed(prefix, names(this.#folders, this.#files), (name) =>
      name.endsWith("/") ? { prefix: prefix + name } : { key: prefix + name },
    );
  }

  async set(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<void> {
    this.#check(key, signal);
    const path = this.#folders.pathOf(key);
    await this.#inFolder(key, () =>
      this.#exclusive
        ? writeFile(this.#files, path, bytes)
        : replaceFile(this.#files, this.#temporary(key), path, bytes),
    );
  }

  async openWriter(key: string, { signal }: StoreOptions = {}): Promise<StoreWriter> {
    this.#check(key, signal);
    const writer = await this.#inFolder(key, () =>
      openFileWriter(this.#files, this.#temporary(key), this.#folders.pathOf(key)),
    );
    const attempt = async (step: () => Promise<void>) => {
      try {
        await step();
      } catch (error) {
        throw this.#error(error, key);
      }
    };
    return inTurn(
      {
        write: (bytes) => attempt(() => writer.write(bytes)),
        commit: () => attempt(() => writer.commit()),
        abort: async () => {
          await attempt(() => writer.abort());
          await this.#folders.prune(folderOf(key));
        },
      },
      key,
      signal,
    );
  }

  /** Also removes the folders that this leaves empty. */
  async delete(key: string, { signal }: StoreOptions = {}): Promise<void> {
    this.#check(key, signal);
    try {
      if (!(await this.#isReachable(key))) return;
      await this.#files.unlink(this.#folders.pathOf(key));
    } catch (error) {
      if (isMissing(error)) return;
      throw this.#error(error, key);
    }
    await this.#folders.prune(folderOf(key));
  }

  /** One rename of a file or a folder; folders that this leaves empty are removed. */
  async rename(from: string, to: string, { signal }: StoreOptions = {}): Promise<void> {
    checkRename(from, to);
    const [old, next] = [from, to].map((name) => name.replace(/\/$/, "")) as [string, string];
    for (const key of [old, next]) this.#check(key, signal);
    if (!(await this.#holds(old, from === old ? "file" : "folder"))) return;
    await this.#inFolder(next, () =>
      moveTo(this.#files, this.#folders.pathOf(old), this.#folders.pathOf(next)),
    );
    this.#folders.forget();
    await this.#folders.prune(folderOf(old));
  }

  /** Whether something of its kind can be moved away. @throws `path-not-allowed` for a symbolic link. */
  async #holds(key: string, kind: "file" | "folder"): Promise<boolean> {
    try {
      if (!(await this.#isReachable(key))) return false;
      const found = await kindAt(this.#files, this.#folders.pathOf(key));
      if (found !== "link") return found === kind;
      throw new ZarrflowError(
        "path-not-allowed",
        "a symbolic link cannot be moved: it may lead elsewhere then",
      );
    } catch (error) {
      throw this.#error(error, key);
    }
  }

  #check(key: string, signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    checkKey(key);
    if (key.includes("zarrflow-") && key.split("/").some(isOwnName)) {
      throw new ZarrflowError("path-not-allowed", "names of this form are kept for temporary files", { key });
    }
  }

  /** Whether the folder of `key` is there, inside the root. */
  #isReachable(key: string): boolean | Promise<boolean> {
    return this.#exclusive || this.#folders.has(folderOf(key));
  }

  async #open(key: string): Promise<number | undefined> {
    try {
      if (!(await this.#isReachable(key))) return undefined;
      if (this.#exclusive || NO_LINK !== undefined) {
        try {
          return await this.#files.open(this.#folders.pathOf(key), READ);
        } catch (error) {
          if (!hasSystemCode(error, "ELOOP", "EMLINK")) throw error;
        }
      }
      return await this.#files.open(await this.#folders.follow(key), READ);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Writes to the folder of `key`, which is made where it is missing. */
  async #inFolder<T>(key: string, write: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#folders.make(folderOf(key));
        return await write();
      } catch (error) {
        if (!hasSystemCode(error, "ENOENT") || attempt === ATTEMPTS) throw this.#error(error, key);
        this.#folders.forget();
      }
    }
  }

  #temporary(key: string): string {
    const folder = folderOf(key);
    return this.#folders.pathOf(folder === "" ? temporaryName() : `${folder}/${temporaryName()}`);
  }

  #listed<T>(prefix: string, names: AsyncIterable<string>, entryOf: (name: string) => T): ReadableStream<T> {
    const error = (cause: unknown) => this.#error(cause, prefix);
    return streamFrom(
      (async function* () {
        try {
          for await (const name of names) yield entryOf(name);
        } catch (cause) {
          throw error(cause);
        }
      })(),
    );
  }

  #error(error: unknown, key: string): unknown {
    const details = { key, store: this.description };
    return error instanceof ZarrflowError ? error.addContext(details) : fileError(error, details);
  }
}
