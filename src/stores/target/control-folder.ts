import { link, lstat, mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ZarrflowError } from "../../util/errors.ts";
import { removeFolder } from "../directory/remove-folder.ts";
import { fileError, hasSystemCode, isDenied, isMissing } from "../files/file-error.ts";
import { controlName, isControlName } from "../reserved-names.ts";
import {
  disownFolder,
  type FolderOwner,
  OWNER_NAME,
  ownerOf,
  type SignOptions,
  signFolder,
  takeOverFolder,
} from "./owner-record.ts";
import { processTag } from "./process-record.node.ts";

/**
 * The folder beside a target where one run builds it. In it are
 * - `build`, the new target, whole from when publishing begins;
 * - `old`, the one it replaces, always whole, while it is neither at its place nor done with;
 * - `trash`, what is being removed;
 * - `ledger.jsonl`, what its run has done.
 *
 * Whatever the moment at which a run is killed, the target's place is empty or holds a whole target, and
 * {@link ControlFolder.mend} ends what was cut.
 */
export class ControlFolder {
  readonly path: string;
  /** Where the target is built: a folder or a file. */
  readonly build: string;
  /** Where its run leaves what it has done. */
  readonly ledger: string;
  readonly #target: string;
  readonly #old: string;
  readonly #trash: string;

  readonly #run: string;
  /** Whether its run has not been heard of for so long that it is over. */
  readonly isDead: boolean;
  readonly #endRenewal: () => void;

  private constructor(
    path: string,
    target: string,
    { run, isDead = false, end = () => {} }: Partial<FolderOwner> & { run: string; end?: () => void },
  ) {
    this.path = path;
    this.#run = run;
    this.isDead = isDead;
    this.#endRenewal = end;
    this.build = join(path, "build");
    this.ledger = join(path, "ledger.jsonl");
    this.#target = target;
    this.#old = join(path, "old");
    this.#trash = join(path, "trash");
  }

  /** Makes a new one beside `target`, in a folder that exists. */
  static async create(target: string, options?: SignOptions): Promise<ControlFolder> {
    const path = join(dirname(target), controlName(basename(target), processTag()));
    await mkdir(path);
    try {
      return new ControlFolder(path, target, await signFolder(path, options));
    } catch (error) {
      await removeFolder(path).catch(() => {});
      throw error;
    }
  }

  /** That of a run of several processes, which all have the same. */
  static of(path: string, target: string, run: string): ControlFolder {
    return new ControlFolder(path, target, { run });
  }

  /**
   * Those beside `target`, of runs that were killed and of others that are under way. What has such a name and is no
   * folder of a run of this user's is none of them.
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
   * Puts the build at the target's place, where nothing is but perhaps an empty folder.
   *
   * @throws `target-exists`
   */
  async publish(): Promise<void> {
    await this.#assertOwn();
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

  /** Puts the build at the target's place, by two renames; if the second fails, the old target is put back. */
  async replace(): Promise<void> {
    await this.#assertOwn();
    await rename(this.#target, this.#old);
    try {
      await rename(this.build, this.#target);
    } catch (error) {
      await rename(this.#old, this.#target);
      throw error;
    }
  }

  /** @throws `locked` when another run took this one for dead, and removed what it had built. */
  async #assertOwn(): Promise<void> {
    if ((await ownerOf(this.path))?.run === this.#run) return;
    throw new ZarrflowError("locked", "the unfinished target was removed by another run", {
      store: `directory ${this.#target}`,
      hint: "Start again.",
    });
  }

  /**
   * Ends a replacement that was cut: before its second rename it is made, after it the old target is removed. What a dead
   * run has built is removed, unless it can be resumed.
   */
  async mend(): Promise<void> {
    if ((await isThere(this.#old)) && !(await isThere(this.#target)) && (await isThere(this.build))) {
      await rename(this.build, this.#target);
    }
    const isReplaced = (await isThere(this.#old)) || (await isThere(this.#trash));
    if (isReplaced || (this.isDead && !(await this.isUnfinished()))) await this.remove();
  }

  /** Whether its run has left something to be resumed. */
  async isUnfinished(): Promise<boolean> {
    return (await isThere(this.build)) && (await isFile(this.ledger));
  }

  /** @throws `target-not-empty` where somebody has put a link in the place of what an unfinished run has built. */
  async assertNoLink(): Promise<void> {
    if (!(await lstat(this.build)).isSymbolicLink()) return;
    throw new ZarrflowError("target-not-empty", "what the unfinished run has built is a symbolic link", {
      store: this.build,
      hint: "Put what it leads to in its place, or start again without --resume.",
    });
  }

  /**
   * Makes the folder of a dead run this run's.
   *
   * @throws `locked` when another run was first.
   */
  async takeOver(options?: SignOptions): Promise<ControlFolder> {
    const signed = await takeOverFolder(this.path, { run: this.#run, isDead: this.isDead }, options);
    if (signed) return new ControlFolder(this.path, this.#target, signed);
    throw new ZarrflowError("locked", "another run has just resumed the unfinished one", {
      store: `directory ${this.#target}`,
      found: this.path,
      hint: "Wait for it.",
    });
  }

  /** Leaves all of it to a run that resumes this one. */
  async keep(): Promise<void> {
    this.#endRenewal();
    await disownFolder(this.path);
  }

  /**
   * Removes all of it. An old target that nothing has replaced is put back first. What cannot be removed is a dead run's
   * from then on.
   */
  async remove(): Promise<void> {
    this.#endRenewal();
    try {
      await this.#removeAll();
    } catch (error) {
      await disownFolder(this.path).catch(() => {});
      throw error;
    }
  }

  async #removeAll(): Promise<void> {
    if (await isThere(this.#old)) {
      await rename(this.#old, (await isThere(this.#target)) ? this.#trash : this.#target);
    }
    // the owner's record goes last, so that the rest is found by the next run if this one is killed
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

async function isFile(path: string): Promise<boolean> {
  return (await isThere(path)) && (await lstat(path)).isFile();
}

async function moveWithoutReplacing(from: string, to: string): Promise<void> {
  // renaming a folder never replaces but an empty one; renaming a file would
  if ((await lstat(from)).isDirectory()) return rename(from, to);
  try {
    await link(from, to);
  } catch (error) {
    if (hasSystemCode(error, "EEXIST") || (await isThere(to))) throw error;
    await rename(from, to); // a file system without hard links
  }
}

/** The names in a folder; none where there is none, or none that this user may read. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error) || isDenied(error)) return [];
    throw fileError(error, { store: folder });
  }
}
