import { type Dir, opendirSync } from "node:fs";
import { sep } from "node:path";
import { throwIfAborted } from "../../util/abort.ts";
import { nextTurn } from "../../util/blocking-io.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { sortUtf8 } from "../../util/names.ts";
import { folderOf } from "../../util/node-path.ts";
import { type ReadableStream, streamFrom, streamFromPages } from "../../util/web-streams.ts";
import type { FileCalls, FileStats } from "../files/file-calls.ts";
import { isMissing } from "../files/file-error.ts";
import { assertPrefix } from "../key.ts";
import { isOwnName, isReservedKey } from "../reserved-names.ts";
import type { KeyEntry, ListedEntry, ListedRun, ListOptions, StoreOptions } from "../store.ts";
import { assertFileOrFolder, type DirectoryTree } from "./directory-tree.ts";

export interface DirectoryListingsOptions {
  readonly folders: DirectoryTree;
  readonly files: FileCalls;
  /** Makes the error for a failure at a key or a prefix. */
  readonly failure: (error: unknown, key: string | undefined) => unknown;
}

/** The listings of a directory store. */
export class DirectoryListings {
  readonly #options: DirectoryListingsOptions;

  constructor(options: DirectoryListingsOptions) {
    this.#options = options;
  }

  /** Implements `list` of a store. */
  keys(prefix: string, { signal, onUnreadable, onFolder }: ListOptions): ReadableStream<KeyEntry> {
    assertPrefix(prefix);
    const keys = walkKeys({ ...this.#listing(onUnreadable), onFolder }, prefix, signal);
    return streamFromPages(
      this.#pages(prefix, keys, (key) => ({ key })),
      signal,
    );
  }

  /** Implements `listDirectory` of a store. */
  level(prefix: string, { signal, onUnreadable }: ListOptions): ReadableStream<ListedEntry> {
    assertPrefix(prefix);
    const names = async function* (listing: Listing) {
      throwIfAborted(signal);
      yield await namesIn(listing, prefix);
    };
    const entryOf = (name: string) =>
      name.endsWith("/") ? { prefix: prefix + name } : { key: prefix + name };
    return streamFromPages(this.#pages(prefix, names(this.#listing(onUnreadable)), entryOf), signal);
  }

  /** Implements `listRuns` of a store. */
  runs({ signal }: StoreOptions): ReadableStream<ListedRun> {
    return streamFrom(this.#runs(signal));
  }

  #listing(report: ListOptions["onUnreadable"]): Listing {
    const { folders, files, failure } = this.#options;
    const onUnreadable = (name: string, reason: unknown) => {
      const error = failure(reason, name);
      if (report === undefined || !isOfEntry(error)) throw error;
      report(name, error);
    };
    return { folders, files, onUnreadable };
  }

  async *#runs(signal: AbortSignal | undefined): AsyncGenerator<ListedRun> {
    const { runsBelow } = await import("./runs-below.ts");
    try {
      yield* runsBelow(this.#options.folders.pathOf(""), "", signal);
    } catch (error) {
      throw this.#options.failure(error, undefined);
    }
  }

  async *#pages<T>(
    prefix: string,
    pages: AsyncIterable<readonly string[]>,
    entryOf: (name: string) => T,
  ): AsyncGenerator<T[]> {
    try {
      for await (const names of pages) yield names.map(entryOf);
    } catch (error) {
      throw this.#options.failure(error, prefix);
    }
  }
}

/** True if a failure concerns one file or folder, not the disk or the process. */
function isOfEntry(error: unknown): error is ZarrflowError {
  const codes = ["corrupt-store", "path-not-allowed", "access-denied", "resource-limit"];
  return error instanceof ZarrflowError && codes.includes(error.code);
}

/** Number of keys in a page of a listing. */
const PAGE_KEYS = 256;
/** Number of names that are read before other tasks get a turn. */
const NAMES_AT_ONCE = 4096;

export interface Listing {
  readonly folders: DirectoryTree;
  readonly files: FileCalls;
  /**
   * Called for each unreadable entry with its key, or its prefix (ending in `/`); if it throws, the listing ends.
   */
  readonly onUnreadable: (name: string, error: unknown) => void;
  /** Called for each folder with its prefix. */
  readonly onFolder?: ListOptions["onFolder"];
}

/**
 * Yields pages of all keys below `prefix`, sorted by UTF-8 bytes. Holds only the names in the folders above the
 * current key in memory.
 */
export async function* walkKeys(
  listing: Listing,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string[]> {
  const way = [{ prefix, rest: (await namesIn(listing, prefix)).reverse() }];
  let page: string[] = [];
  for (let here = way.at(-1); here !== undefined; here = way.at(-1)) {
    const name = here.rest.pop();
    if (name === undefined) way.pop();
    else if (name.endsWith("/")) {
      throwIfAborted(signal);
      const below = here.prefix + name;
      listing.onFolder?.(below);
      const folder = await openFolder(listing, below).catch((error) => listing.onUnreadable(below, error));
      if (folder) way.push({ prefix: below, rest: (await namesOf(listing, folder, below)).reverse() });
    } else if (page.push(here.prefix + name) === PAGE_KEYS) {
      throwIfAborted(signal);
      yield page;
      page = [];
    }
  }
  throwIfAborted(signal);
  yield page;
}

/**
 * Lists the folder at `prefix`, sorted by UTF-8 bytes: names of files, and names of folders with `/` at the end.
 * Empty if there is no folder.
 */
export async function namesIn(listing: Listing, prefix: string): Promise<string[]> {
  const folder = await openFolder(listing, prefix);
  return folder ? namesOf(listing, folder, prefix) : [];
}

/** Opens the folder at `prefix`; undefined if it does not exist. */
async function openFolder({ folders }: Listing, prefix: string): Promise<Dir | undefined> {
  const key = prefix.slice(0, -1);
  try {
    // Reading entries asynchronously costs a microsecond more for each.
    return (await folders.has(key)) ? opendirSync(folders.pathOf(key), { bufferSize: 1024 }) : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function namesOf(listing: Listing, folder: Dir, prefix: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (isOwnName(entry.name) || isReservedKey(entry.name)) continue;
      if (entry.isFile()) names.push(entry.name);
      else if (entry.isDirectory()) {
        names.push(`${entry.name}/`);
        listing.folders.remember(prefix + entry.name);
      } else {
        const kind = await lookAt(listing, prefix + entry.name);
        if (kind !== undefined) names.push(kind === "file" ? entry.name : `${entry.name}/`);
      }
      if (names.length % NAMES_AT_ONCE === 0) await nextTurn();
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  } finally {
    folder.closeSync();
  }
  return sortUtf8(names);
}

/**
 * Returns the kind of an entry, for a symbolic link inside the root that of its target; undefined if it is gone or
 * unreadable.
 */
async function lookAt(
  { folders, files, onUnreadable }: Listing,
  key: string,
): Promise<"file" | "folder" | undefined> {
  try {
    const info = await files.lstat(folders.pathOf(key));
    if (!info.isSymbolicLink()) return kindOf(info);
    const target = await folders.follow(key);
    const kind = kindOf(await files.lstat(target));
    if (kind === "folder") {
      await assertNoCycle(folders, key);
      await folders.noteLink(key, target);
    }
    return kind;
  } catch (error) {
    if (!isMissing(error)) onUnreadable(key, error);
    return undefined;
  }
}

/** @throws `corrupt-store` for anything else. */
function kindOf(info: FileStats): "file" | "folder" {
  assertFileOrFolder(info);
  return info.isFile() ? "file" : "folder";
}

/** Rejects a link to a folder above the link, which would make a listing endless. */
async function assertNoCycle(folders: DirectoryTree, link: string): Promise<void> {
  const target = await folders.follow(link);
  for (let above = link; above !== ""; ) {
    above = folderOf(above);
    if (`${await folders.follow(above)}${sep}`.startsWith(`${target}${sep}`)) {
      throw new ZarrflowError("path-not-allowed", "a symbolic link points to a folder above it", {
        key: link,
      });
    }
  }
}
