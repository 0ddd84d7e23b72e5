import { link, lstat, mkdir, readdir, realpath, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { removeFolder } from "../stores/directory/directory-tree.ts";
import {
  disownFolder,
  type FolderOwner,
  OWNER_NAME,
  ownerOf,
  type SignOptions,
  signFolder,
  takeOverFolder,
} from "../stores/directory/owner-record.ts";
import { fileError, hasSystemCode, isDenied, isMissing } from "../stores/files/file-error.ts";
import { processTag } from "../stores/files/process-record.node.ts";
import { controlName, isControlName, isOwnName } from "../stores/reserved-names.ts";
import type { LockOptions } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { Claim } from "./build.ts";

/**
 * A folder beside a target in which one run builds it. It contains
 * - `build`, the new target, complete once publishing starts;
 * - `old`, the replaced target, always complete, from the first rename until it is put back or moved to `trash`;
 * - `trash`, anything that is being removed;
 * - `ledger.jsonl`, the run's record of its progress.
 *
 * Whenever a run is killed, the target's place is either empty or contains a complete target, and {@link
 * ControlFolder.recover} finishes what was interrupted.
 */
export class ControlFolder implements Claim {
  readonly path: string;
  /** Path of the new target, a folder or a file. */
  readonly build: string;
  /** Path of the run's record of its progress. */
  readonly ledger: string;
  readonly #target: string;
  readonly #old: string;
  readonly #trash: string;

  readonly #run: string;
  /** True if the run has not renewed its record for so long that it counts as ended. */
  readonly isDead: boolean;
  readonly #endRenewal: () => void;
  /** The uppermost folder that was created for the target. */
  readonly #firstMade: string | undefined;

  private constructor(
    path: string,
    target: string,
    {
      run,
      isDead = false,
      end = () => {},
      firstMade,
    }: Partial<FolderOwner> & { run: string; end?: () => void; firstMade?: string | undefined },
  ) {
    this.path = path;
    this.#firstMade = firstMade;
    this.#run = run;
    this.isDead = isDead;
    this.#endRenewal = end;
    this.build = join(path, "build");
    this.ledger = join(path, "ledger.jsonl");
    this.#target = target;
    this.#old = join(path, "old");
    this.#trash = join(path, "trash");
  }

  /** Creates a control folder beside `target`, and the folders above it. */
  static async create(target: string, options?: SignOptions): Promise<ControlFolder> {
    const parent = dirname(target);
    const firstMade = await mkdir(parent, { recursive: true });
    const path = join(parent, controlName(basename(target), processTag()));
    try {
      await mkdir(path);
      return new ControlFolder(path, target, { ...(await signFolder(path, options)), firstMade });
    } catch (error) {
      await removeFolder(path).catch(() => {});
      await removeEmptyFolders(parent, firstMade);
      throw error;
    }
  }

  /** Returns the control folder of a joint run, which all its processes share. */
  static of(path: string, target: string, run: string): ControlFolder {
    return new ControlFolder(path, target, { run });
  }

  /**
   * Lists the control folders of killed and active runs beside `target`. Anything with such a name that is not a folder
   * of this user's runs is left out.
   */
  static async all(target: string): Promise<ControlFolder[]> {
    const parent = dirname(target);
    const found: ControlFolder[] = [];
    for (const name of await namesIn(parent)) {
      if (!isControlName(name, basename(target))) continue;
      const owner = await ownerOf(join(parent, name));
      if (owner) found.push(new ControlFolder(join(parent, name), target, owner));
    }
    return found;
  }

  /**
   * Moves the build to the target's place, where nothing may exist but an empty folder.
   *
   * @throws `target-exists`
   */
  async publish(): Promise<void> {
    await this.assertHeld();
    try {
      await moveWithoutReplacing(this.build, this.#target);
    } catch (error) {
      if (!hasSystemCode(error, "EEXIST", "ENOTEMPTY", "ENOTDIR", "EISDIR")) throw error;
      throw new ZarrflowError(
        "target-exists",
        `${this.#target} was created by another program during the run`,
      );
    }
  }

  /** Moves the build to the target's place with two renames. If the second fails, the old target is put back. */
  async replace(): Promise<void> {
    await this.assertHeld();
    await rename(this.#target, this.#old);
    try {
      await rename(this.build, this.#target);
    } catch (error) {
      await rename(this.#old, this.#target);
      throw error;
    }
  }

  /** @throws `locked` if another run took this one for dead and removed its build. */
  async assertHeld({ lately = false }: { readonly lately?: boolean } = {}): Promise<void> {
    // `publish` and `replace` look once more
    if (lately || (await this.#owner()) === this.#run) return;
    throw new ZarrflowError("locked", "another run removed the unfinished target", {
      store: `directory ${this.#target}`,
      hint: "Run it again.",
    });
  }

  /** True unless another run has taken the folder over. If one has removed it, late writes may have created it again. */
  async isHeld(): Promise<boolean> {
    return [undefined, "", this.#run].includes(await this.#owner());
  }

  async #owner(): Promise<string | undefined> {
    return (await ownerOf(this.path))?.run;
  }

  /**
   * Finishes an interrupted replacement: makes the second rename if it was not made, then removes the old target.
   * The build of a dead run is removed, unless it can be resumed.
   */
  async recover(): Promise<void> {
    if ((await isThere(this.#old)) && !(await isThere(this.#target)) && (await isThere(this.build))) {
      await rename(this.build, this.#target);
    }
    const isReplaced = (await isThere(this.#old)) || (await isThere(this.#trash));
    if (isReplaced || (this.isDead && !(await this.isUnfinished()))) await this.remove();
  }

  /** True if the run left work that can be resumed. */
  async isUnfinished(): Promise<boolean> {
    return (await isThere(this.build)) && (await isFile(this.ledger));
  }

  /** @throws `target-not-empty` if someone replaced the build of an unfinished run by a link. */
  async assertNoLink(): Promise<void> {
    if (!(await lstat(this.build)).isSymbolicLink()) return;
    throw new ZarrflowError("target-not-empty", "the unfinished target is a symbolic link", {
      store: this.build,
      hint: "Replace the link by the folder that it points to, or start over without --resume.",
    });
  }

  /**
   * Transfers the folder of a dead run to this run.
   *
   * @throws `locked` if another run was first.
   */
  async takeOver(options?: SignOptions): Promise<ControlFolder> {
    const signed = await takeOverFolder(this.path, { run: this.#run, isDead: this.isDead }, options);
    if (signed) return new ControlFolder(this.path, this.#target, signed);
    throw new ZarrflowError("locked", "another process has just resumed the unfinished run", {
      store: `directory ${this.#target}`,
      found: this.path,
      hint: "Wait for it to finish.",
    });
  }

  /** Leaves everything to a run that resumes this one. */
  async leave(): Promise<void> {
    this.#endRenewal();
    await disownFolder(this.path);
  }

  /** As `remove`; does nothing to a folder that another run has taken over. */
  async release(): Promise<void> {
    if (await this.isHeld()) await this.remove();
    else this.#endRenewal();
  }

  /**
   * Removes everything, and empty folders that were created for the target. An old target that was not replaced is put
   * back first. If something cannot be removed, the folder counts as a dead run's from then on.
   */
  async remove(): Promise<void> {
    this.#endRenewal();
    try {
      await this.#removeAll();
    } catch (error) {
      await disownFolder(this.path).catch(() => {});
      throw error;
    }
    await removeEmptyFolders(dirname(this.#target), this.#firstMade);
  }

  notReleased(error: unknown): { readonly message: string; readonly hint: string } {
    const reason = fileError(error, {});
    return {
      message: `the target is published, but the replaced target, in ${this.path}, could not be removed: ${reason instanceof Error ? reason.message : reason}`,
      hint: "Delete it yourself, or run `zarrflow clean` with the required permissions.",
    };
  }

  async #removeAll(): Promise<void> {
    if (await isThere(this.#old)) {
      await rename(this.#old, (await isThere(this.#target)) ? this.#trash : this.#target);
    }
    // the owner record goes last: if this run is killed, the next run still recognizes the folder
    for (const name of (await isThere(this.path)) ? await readdir(this.path) : []) {
      if (name !== OWNER_NAME) await removeFolder(join(this.path, name));
    }
    await removeFolder(this.path);
  }
}

export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Removes `folder`, then its parents up to `last`, until one is not empty. */
async function removeEmptyFolders(folder: string, last: string | undefined): Promise<void> {
  if (last === undefined) return;
  try {
    for (let empty = folder; empty.length >= last.length; empty = dirname(empty)) await rmdir(empty);
  } catch {
    // someone else put something there
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await isThere(path)) && (await lstat(path)).isFile();
}

async function moveWithoutReplacing(from: string, to: string): Promise<void> {
  // renaming a folder replaces only an empty folder, but renaming a file replaces a file
  if ((await lstat(from)).isDirectory()) return rename(from, to);
  try {
    await link(from, to);
  } catch (error) {
    if (hasSystemCode(error, "EEXIST") || (await isThere(to))) throw error;
    await rename(from, to); // a file system without hard links
  }
}

/** Returns the names in a folder; none if it does not exist or this user may not read it. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error) || isDenied(error)) return [];
    throw fileError(error, { store: folder });
  }
}

/** Checks that no other run is building a target for a folder. @throws `locked` */
export async function assertFolderNotBuilt(path: string, { breakLock = false }: LockOptions): Promise<void> {
  if (breakLock) return;
  const target = await realpath(resolve(path)).catch(() => resolve(path));
  const control = (await ControlFolder.all(target)).find(({ isDead }) => !isDead);
  if (control === undefined) return;
  throw new ZarrflowError("locked", "another run is writing to the hierarchy around the target", {
    store: `directory ${target}`,
    found: control.path,
    hint: "Wait for it. If that run is dead, use --break-lock, or wait until 15 minutes have passed since its last renewal.",
  });
}

/** Removes files that a killed run was writing. */
export async function removeTemporaryFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeTemporaryFiles(path);
    else if (isOwnName(entry.name)) await unlink(path);
  }
}
