import { type Stats, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { throwIfAborted } from "../../util/abort.ts";
import { isMissing } from "../files/file-error.ts";
import type { MissingWatch, StoreOptions } from "../store.ts";
import { sourceChanged } from "../version.ts";

/** A folder in the state in which a value was first found missing in it. Times are in milliseconds. */
export interface MissingNote {
  readonly folder: string;
  /** Time of its last change, by the clock of its file system. */
  readonly changedAt: number;
  /** Time when that was looked up. */
  readonly seenAt: number;
}

/**
 * Maximum number of folders that a watch remembers. In any others, it notices only changes before they were first
 * looked up.
 */
const MAX_REMEMBERED = 100_000;

/** The watches of this thread. A watch that is dropped without `end` is garbage-collected. */
const watches = new Set<WeakRef<FolderWatch>>();

/** True if there is a watch for missing values. */
export function isWatched(): boolean {
  return watches.size > 0;
}

/**
 * Reports to the watches of this thread that a value is missing in a folder, or, with a note, that another thread
 * found that.
 */
export function noteMissing(found: string | MissingNote): void {
  for (const watch of active()) watch.note(found);
}

/** Reports to the watches of this thread that a listing lacked some keys below a folder. */
export function noteMissingBelow(folder: string): void {
  for (const watch of active()) watch.noteBelow(folder);
}

function* active(): Generator<FolderWatch> {
  for (const reference of watches) {
    const watch = reference.deref();
    if (watch) yield watch;
    else watches.delete(reference);
  }
}

export interface FolderWatchOptions {
  /** Folders in which changes count, with everything below them. By default, the root. */
  readonly folders?: readonly string[];
  /** Called once for each folder in which a value is missing. */
  readonly onNote?: ((note: MissingNote) => void) | undefined;
}

/**
 * The folders below a root in which values were found missing. Removing or adding a value changes its folder. If a
 * folder changed after the watch began, the missing values may have been there.
 *
 * Times come from the file system. A folder that changed before it was first looked up counts as changed only if
 * its time is between the start of the watch and that lookup.
 */
export class FolderWatch implements MissingWatch {
  readonly #root: string;
  readonly #folders: readonly string[];
  readonly #onNote: ((note: MissingNote) => void) | undefined;
  readonly #began = Date.now();
  readonly #changedAt = new Map<string, number>();
  readonly #below = new Set<string>();
  readonly #reference = new WeakRef(this);
  #changed: string | undefined;

  constructor(root: string, { folders = [root], onNote }: FolderWatchOptions = {}) {
    this.#root = root;
    this.#folders = folders;
    this.#onNote = onNote;
    watches.add(this.#reference);
  }

  note(found: string | MissingNote): void {
    const folder = typeof found === "string" ? found : found.folder;
    if (!this.#isBelow(folder)) return;
    const known = this.#changedAt.get(folder);
    if (known !== undefined && typeof found === "string") return;
    const note = typeof found === "string" ? this.#look(folder) : found;
    if (note === undefined) return;
    if (known === undefined && this.#changedAt.size < MAX_REMEMBERED) {
      this.#changedAt.set(folder, note.changedAt);
      this.#onNote?.(note);
    }
    const isLater = this.#isWithin(note.changedAt, note.seenAt);
    if (isLater || (known !== undefined && known !== note.changedAt)) this.#changed ??= folder;
  }

  noteBelow(folder: string): void {
    if (this.#isBelow(folder)) this.#below.add(folder);
  }

  async assertUnchanged({ signal }: StoreOptions = {}): Promise<void> {
    if (this.#changed !== undefined) throw this.#failure(this.#changed);
    for (const [folder, changedAt] of this.#changedAt) {
      throwIfAborted(signal);
      if ((await ifThere(stat(folder)))?.ctimeMs !== changedAt) throw this.#failure(folder);
    }
    for (const folder of this.#below) await this.#assertUnchangedBelow(folder, signal);
  }

  end(): void {
    watches.delete(this.#reference);
  }

  async #assertUnchangedBelow(folder: string, signal: AbortSignal | undefined): Promise<void> {
    throwIfAborted(signal);
    const info = await ifThere(stat(folder));
    if (info === undefined) return; // if it existed before, its parent has changed
    if (this.#isWithin(info.ctimeMs, Date.now())) throw this.#failure(folder);
    const entries = (await ifThere(readdir(folder, { withFileTypes: true }))) ?? [];
    for (const entry of entries) {
      if (entry.isDirectory()) await this.#assertUnchangedBelow(`${folder}/${entry.name}`, signal);
    }
  }

  /** Returns a note on the folder; if it is gone, notes its parent instead, which has changed. */
  #look(folder: string): MissingNote | undefined {
    try {
      const info: Stats = statSync(folder);
      return { folder, changedAt: info.ctimeMs, seenAt: Date.now() };
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (folder !== this.#root) this.note(dirname(folder));
      return undefined;
    }
  }

  #isBelow(folder: string): boolean {
    return this.#folders.some((one) => folder === one || folder.startsWith(`${one}/`));
  }

  /** True if a time is after the start of the watch, but not after `seenAt`, as times of a fast clock are. */
  #isWithin(time: number, seenAt: number): boolean {
    const at = Math.floor(time);
    return at > this.#began && at <= seenAt;
  }

  #failure(folder: string) {
    const reason =
      "a folder with missing chunks changed while it was being read: chunks may have been removed or added";
    return sourceChanged(reason).addContext({ key: folder.slice(this.#root.length + 1) });
  }
}

async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
