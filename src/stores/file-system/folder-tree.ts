import { throwIfAborted } from "../../util/abort.ts";
import { sortUtf8 } from "../../util/names.ts";
import { folderOf, lastName } from "../../util/node-path.ts";
import { pause } from "../../util/pause.ts";
import type { OwnBytes } from "../../util/platform-types.ts";
import { isOwnName, isReservedKey, temporaryName } from "../reserved-names.ts";
import type { ListOptions } from "../store.ts";
import { type FileHandle, type FileWritable, type FolderHandle, isBrowserError } from "./handles.ts";
import { readBlob } from "./read-blob.ts";

/** Maximum number of remembered folders. */
const MAX_KNOWN = 4096;
/** Attempts to write in a folder that others keep removing. */
const ATTEMPTS = 5;
/** In milliseconds. */
const LONGEST_PAUSE = 500;
/** Suffix of the file that Chromium writes to until a file is closed. */
const SWAP = ".crswap";

/** The folders below a handle, by their keys. */
export class FolderTree {
  readonly #root: FolderHandle;
  /** Handles are names: they stay valid if a folder is removed and created again. */
  readonly #known = new Map<string, FolderHandle>();

  constructor(root: FolderHandle) {
    this.#root = root;
  }

  /** Finds the folder with a key, "" for the root; undefined if it does not exist. */
  async find(key: string): Promise<FolderHandle | undefined> {
    try {
      return await this.#at(key, false);
    } catch (error) {
      if (isBrowserError(error, "NotFoundError", "TypeMismatchError")) return undefined;
      throw error;
    }
  }

  /**
   * Runs `act` in the folder with a key, which is created if it is missing. Tries again if others remove the
   * folder in the meantime.
   */
  async inFolder<T>(key: string, act: (folder: FolderHandle) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await act(await this.#at(key, true));
      } catch (error) {
        const isRemoved = isBrowserError(error, "NotFoundError", "NoModificationAllowedError");
        if (!isRemoved || attempt === ATTEMPTS) throw error;
        this.#known.clear();
      }
    }
  }

  /** Removes a folder, then its parents, up to the first that is not empty. */
  async prune(key: string): Promise<void> {
    for (let here = key; here !== ""; here = folderOf(here)) {
      const above = await this.find(folderOf(here));
      try {
        await above?.removeEntry(lastName(here));
      } catch (error) {
        // not empty, or something is being written there
        if (isBrowserError(error, "InvalidModificationError", "NoModificationAllowedError")) return;
        if (!isBrowserError(error, "NotFoundError")) throw error;
      }
      this.#known.delete(here);
    }
  }

  /**
   * Lists the keys below `prefix`, sorted by UTF-8 bytes. Holds only the names in the folders above the current
   * key in memory.
   */
  async *keys(
    prefix: string,
    options: Pick<ListOptions, "signal" | "onFolder">,
  ): AsyncGenerator<{ readonly key: string }> {
    for (const name of await this.namesIn(prefix, options.signal)) {
      throwIfAborted(options.signal);
      if (!name.endsWith("/")) yield { key: prefix + name };
      else {
        options.onFolder?.(prefix + name);
        yield* this.keys(prefix + name, options);
      }
    }
  }

  /**
   * Lists the folder at `prefix`, sorted by UTF-8 bytes: names of files, and names of folders with `/` at the end.
   */
  async namesIn(prefix: string, signal: AbortSignal | undefined): Promise<string[]> {
    throwIfAborted(signal);
    const folder = await this.find(prefix.slice(0, -1));
    const names: string[] = [];
    try {
      for await (const { kind, name } of folder?.values() ?? []) {
        if (name.endsWith(SWAP) || isOwnName(name) || isReservedKey(name)) continue;
        names.push(kind === "directory" ? `${name}/` : name);
      }
    } catch (error) {
      if (!isBrowserError(error, "NotFoundError")) throw error;
    }
    throwIfAborted(signal);
    return sortUtf8(names);
  }

  async #at(key: string, create: boolean): Promise<FolderHandle> {
    if (key === "") return this.#root;
    const known = this.#known.get(key);
    if (known) return known;
    const above = await this.#at(folderOf(key), create);
    const folder = await above.getDirectoryHandle(lastName(key), { create });
    if (this.#known.size === MAX_KNOWN) this.#known.clear();
    this.#known.set(key, folder);
    return folder;
  }
}

/** Repeats a call while the browser has not yet released a closed file or its folder. */
export async function whenFree<T>(act: () => Promise<T>): Promise<T> {
  for (let milliseconds = 1; ; milliseconds *= 2) {
    try {
      return await act();
    } catch (error) {
      const isBusy = isBrowserError(error, "NoModificationAllowedError");
      if (!isBusy || milliseconds > LONGEST_PAUSE) throw error;
    }
    await pause(milliseconds);
  }
}

/** Bytes of a file that are copied at a time. */
const STEP = 4 * 2 ** 20;

/**
 * The bytes of a value before it is published. They go to a temporary file, because browsers show a new file as
 * empty as soon as it is opened for writing.
 */
export class PendingFile {
  readonly #folders: FolderTree;
  readonly #folder: FolderHandle;
  readonly #key: string;
  readonly #file: FileHandle;
  readonly #writable: FileWritable;

  private constructor(
    folders: FolderTree,
    key: string,
    { folder, file, writable }: { folder: FolderHandle; file: FileHandle; writable: FileWritable },
  ) {
    this.#folders = folders;
    this.#key = key;
    this.#folder = folder;
    this.#file = file;
    this.#writable = writable;
  }

  static async create(folders: FolderTree, key: string): Promise<PendingFile> {
    return folders.inFolder(folderOf(key), async (folder) => {
      const file = await folder.getFileHandle(temporaryName(), { create: true });
      try {
        return new PendingFile(folders, key, { folder, file, writable: await file.createWritable() });
      } catch (error) {
        await removeFile(folder, file.name);
        throw error;
      }
    });
  }

  /** The caller may reuse `bytes` when it resolves. */
  async write(bytes: Uint8Array): Promise<void> {
    // browsers do not write shared memory
    const isOwn = bytes.buffer instanceof ArrayBuffer;
    await this.#writable.write(isOwn ? (bytes as OwnBytes) : new Uint8Array(bytes));
  }

  /** Publishes the value; after a failure, nothing is left. */
  async publish(): Promise<void> {
    try {
      await this.#writable.close();
      await this.#move();
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  async discard(): Promise<void> {
    await this.#writable.abort().catch(() => {}); // it is closed, or has failed
    await removeFile(this.#folder, this.#file.name);
    await this.#folders.prune(folderOf(this.#key));
  }

  async #move(): Promise<void> {
    const name = lastName(this.#key);
    try {
      const isMoved = await whenFree(async () => this.#file.move?.(this.#folder, name).then(() => true));
      if (isMoved) return;
    } catch {
      // some browsers cannot move files outside the site's own; if the cause is another, copying fails with it
    }
    const target = await this.#folder.getFileHandle(name, { create: true });
    const writable = await target.createWritable();
    const file = await this.#file.getFile();
    try {
      for (let offset = 0; offset < file.size; offset += STEP)
        await writable.write((await readBlob(file, { range: { offset, length: STEP } })) as OwnBytes);
      await writable.close();
    } catch (error) {
      await writable.abort().catch(() => {});
      throw error;
    }
    await removeFile(this.#folder, this.#file.name);
  }
}

async function removeFile(folder: FolderHandle, name: string): Promise<void> {
  try {
    await whenFree(() => folder.removeEntry(name));
  } catch (error) {
    if (!isBrowserError(error, "NotFoundError")) throw error;
  }
}
