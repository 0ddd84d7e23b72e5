import { folderOf, lastName } from "../../util/node-path.ts";
import type { OwnBytes } from "../../util/platform-types.ts";
import { temporaryName } from "../reserved-names.ts";
import { isBrowserError } from "./browser-error.ts";
import { type FolderTree, whenFree } from "./folder-tree.ts";
import type { FileHandle, FileWritable, FolderHandle } from "./handles.ts";
import { readBlob } from "./read-blob.ts";

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
