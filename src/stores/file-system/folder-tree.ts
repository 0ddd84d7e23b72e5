import { throwIfAborted } from "../../util/abort.ts";
import { folderOf, lastName } from "../../util/node-path.ts";
import { pause } from "../../util/pause.ts";
import { sortUtf8 } from "../../util/utf8-order.ts";
import { isOwnName, isReservedKey } from "../reserved-names.ts";
import type { ListOptions } from "../store.ts";
import { isBrowserError } from "./browser-error.ts";
import type { FolderHandle } from "./handles.ts";

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

  /** Removes a folder and its parents as far as they are empty. */
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
