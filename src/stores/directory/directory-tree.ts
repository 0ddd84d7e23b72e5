import { lstatSync, mkdirSync, opendirSync, rmdirSync, unlinkSync } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { nextTurn } from "../../util/blocking-io.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { folderOf } from "../../util/node-path.ts";
import type { FileCalls, FileStats } from "../files/file-calls.ts";
import { hasSystemCode, isMissing } from "../files/file-error.ts";
import { folderVersion } from "../files/file-reader.ts";
import { syncFolder, type ValueFiles } from "./value-file.ts";

/**
 * Folders that are assumed to exist, some 10 MB of names: checking each again takes longer than reading its
 * contents.
 */
const MAX_REMEMBERED = 100_000;
/** Maximum number of symbolic links below other links that may lead to one folder. */
const MAX_LINKS = 64;

/** @throws `corrupt-store` for a pipe, a socket or a device, which is not a missing value. */
export function assertFileOrFolder(info: FileStats): void {
  if (info.isFile() || info.isDirectory()) return;
  throw new ZarrflowError("corrupt-store", "this is neither a file nor a folder", {
    hint: "Remove it, or move it out of the store.",
  });
}

/**
 * The folders below a root, named by key ("" is the root). Each is checked once, so that no key is reached through
 * a symbolic link to outside the root.
 */
export class DirectoryTree {
  readonly #root: string;
  readonly #files: FileCalls;
  readonly #fsync: boolean;
  readonly #isMade: boolean;
  readonly #known = new Set<string>();
  /** Links below other links, by the path of the folder to which they lead. */
  readonly #links = new Map<string, Set<string>>();
  #realRoot: string | undefined;

  /** @param isMade true if the root exists, or must not be created */
  constructor(root: string, { files, fsync, isMade = false }: ValueFiles & { readonly isMade?: boolean }) {
    this.#root = root;
    this.#isMade = isMade;
    this.#files = files;
    this.#fsync = fsync;
  }

  pathOf(key: string): string {
    return key === "" ? this.#root : `${this.#root}/${key}`;
  }

  /** Returns true if `folder` exists. The root is assumed to exist. */
  async has(folder: string): Promise<boolean> {
    if (this.isKnown(folder)) return true;
    if (!(await this.has(folderOf(folder)))) return false;
    try {
      let info = await this.#files.lstat(this.pathOf(folder));
      if (info.isSymbolicLink()) info = await this.#files.lstat(await this.follow(folder));
      assertFileOrFolder(info);
      if (!info.isDirectory()) return false;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    this.remember(folder);
    return true;
  }

  /** Like `has`, but finished when it returns. Returns undefined if that is uncertain. */
  hasSync(folder: string): boolean | undefined {
    if (this.isKnown(folder)) return true;
    const isAboveThere = this.hasSync(folderOf(folder));
    if (!isAboveThere) return isAboveThere;
    try {
      if (!lstatSync(this.pathOf(folder)).isDirectory()) return undefined;
    } catch (error) {
      return hasSystemCode(error, "ENOENT") ? false : undefined;
    }
    this.remember(folder);
    return true;
  }

  /** Identifies the root, so that a folder that replaces it is noticed; undefined if it does not exist. */
  async version(): Promise<string | undefined> {
    try {
      return folderVersion(await stat(this.#root));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** True if `folder` is known to exist without a check. The root is assumed to exist. */
  isKnown(folder: string): boolean {
    return folder === "" || this.#known.has(folder);
  }

  /**
   * Creates `folder` before it returns, in a parent that exists or can be created. Returns false if that is not
   * possible.
   */
  makeSync(folder: string): boolean {
    if (this.#known.has(folder)) return true;
    if (folder === "" || !this.makeSync(folderOf(folder))) return false;
    try {
      mkdirSync(this.pathOf(folder));
    } catch (error) {
      return hasSystemCode(error, "EEXIST") && this.hasSync(folder) === true;
    }
    this.remember(folder);
    return true;
  }

  /** Creates `folder` and its missing parents. */
  async make(folder: string): Promise<void> {
    if (this.#known.has(folder)) return;
    if (folder === "" && !this.#isMade) await mkdir(this.#root, { recursive: true });
    else if (folder !== "") {
      await this.make(folderOf(folder));
      try {
        await this.#files.makeFolder(this.pathOf(folder));
        await this.sync(folderOf(folder));
      } catch (error) {
        if (!hasSystemCode(error, "EEXIST") || !(await this.has(folder))) throw error;
      }
    }
    this.remember(folder);
  }

  /** Flushes the entries of `folder` to the disk, if that was requested. */
  async sync(folder: string): Promise<void> {
    if (this.#fsync) await syncFolder(this.#files, this.pathOf(folder));
  }

  /** Removes `folder`, then its parents, up to the first that is not empty. Keeps the root. */
  async prune(folder: string): Promise<void> {
    for (let empty = folder; empty !== ""; empty = folderOf(empty)) {
      this.#known.delete(empty);
      try {
        await this.#files.removeFolder(this.pathOf(empty));
      } catch {
        return; // not empty, or gone already
      }
    }
  }

  /** Forgets the known folders, because someone removed one. */
  forget(): void {
    this.#known.clear();
  }

  /**
   * Returns the path at the end of the symbolic link at `key`.
   *
   * @throws `path-not-allowed` if it is outside the root; `corrupt-store` if nothing is there.
   */
  async follow(key: string): Promise<string> {
    this.#realRoot ??= await this.#files.realpath(this.#root);
    const path = await this.#endOfLink(key);
    const inside = this.#realRoot.endsWith(sep) ? this.#realRoot : this.#realRoot + sep;
    if (path !== this.#realRoot && !path.startsWith(inside)) {
      throw new ZarrflowError("path-not-allowed", "a symbolic link points outside the store", {
        key,
        hint: "Copy the link's target into the store.",
      });
    }
    return path;
  }

  /** Resolves a link. A broken link is not a missing key. */
  async #endOfLink(key: string): Promise<string> {
    const path = this.pathOf(key);
    try {
      return await this.#files.realpath(path);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await this.#files.lstat(path); // fails if the link itself is gone
      throw new ZarrflowError(
        "corrupt-store",
        "a symbolic link is broken",
        { key, hint: "Fetch the link's target (git-annex: `git annex get`), or remove the link." },
        { cause: error },
      );
    }
  }

  /**
   * Records that the symbolic link at `key` leads to the folder `target`.
   *
   * @throws `resource-limit` if too many links below other links lead there: they would create endless paths.
   */
  async noteLink(key: string, target: string): Promise<void> {
    const above = folderOf(key);
    if (
      (await this.follow(above)) ===
      `${this.#realRoot}${above === "" ? "" : sep + above.replaceAll("/", sep)}`
    )
      return;
    const links = this.#links.get(target) ?? new Set();
    this.#links.set(target, links.add(key));
    if (links.size <= MAX_LINKS) return;
    throw new ZarrflowError("resource-limit", "too many symbolic links lead to the same folder", {
      key,
      expected: `at most ${MAX_LINKS}`,
      hint: "Open that folder directly.",
    });
  }

  /** Records that `folder` exists and is not a symbolic link. */
  remember(folder: string): void {
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.add(folder);
  }
}

/** Milliseconds after which other tasks get a turn. */
const TURN_MS = 10;

/**
 * Removes a folder and its contents, if it exists. Files are removed one after the other: `rm` starts with all at
 * once, which takes kilobytes for each.
 */
export async function removeFolder(path: string): Promise<void> {
  // a link is removed itself, not its target
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    await emptyFolder(path, { began: performance.now() }).catch(() => {});
  }
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function emptyFolder(path: string, turn: { began: number }): Promise<void> {
  const folder = opendirSync(path, { bufferSize: 1024 });
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      const below = join(path, entry.name);
      if (entry.isDirectory()) {
        await emptyFolder(below, turn);
        rmdirSync(below);
      } else unlinkSync(below);
      if (performance.now() - turn.began < TURN_MS) continue;
      await nextTurn();
      turn.began = performance.now();
    }
  } finally {
    folder.closeSync();
  }
}
