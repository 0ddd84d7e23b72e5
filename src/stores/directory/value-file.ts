import { constants, lstatSync } from "node:fs";
import { ZarrflowError } from "../../util/errors.ts";
import { asyncFileCalls, type FileCalls, writeFully } from "../files/file-calls.ts";
import { hasSystemCode, isMissing } from "../files/file-error.ts";
import type { StoreWriter } from "../store.ts";
import { writePieceSync } from "./sync-values.ts";

const { O_CREAT, O_EXCL, O_TRUNC, O_WRONLY, S_IWUSR: OWNER_WRITES } = constants;

/** Options for writing files of values. */
export interface ValueFiles {
  readonly files: FileCalls;
  /** True to flush each file to the disk before it counts as written. */
  readonly fsync: boolean;
}

/** Writes `bytes` to `path`, replacing an existing file. After a failure, no file is there. */
export async function writeFile(
  { files, fsync }: ValueFiles,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const fd = await files.open(path, O_WRONLY | O_CREAT | O_TRUNC);
  try {
    try {
      await writeFully(files, fd, bytes, 0);
      if (fsync) await files.sync(fd);
    } finally {
      await files.close(fd);
    }
  } catch (error) {
    await ignoringFailure(() => files.unlink(path));
    throw error;
  }
}

/** Writes `bytes` to a new file `temporary`, then renames it to `path`. After a failure, `path` is unchanged. */
export async function replaceFile(
  values: ValueFiles,
  temporary: string,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const writer = await openFileWriter(values, temporary, path);
  try {
    await writer.write(bytes);
    await writer.commit();
  } catch (error) {
    await ignoringFailure(() => writer.abort());
    throw error;
  }
}

/** Opens a writer to a new file `temporary`, which `commit` renames to `path` and `abort` removes. */
export async function openFileWriter(
  { files, fsync }: ValueFiles,
  temporary: string,
  path: string,
): Promise<StoreWriter> {
  const fd = await files.open(temporary, O_WRONLY | O_CREAT | O_EXCL);
  let position = 0;
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await files.close(fd);
  };
  return {
    async write(bytes) {
      await writeFully(files, fd, bytes, position);
      position += bytes.length;
    },
    ...(files === asyncFileCalls && {
      writeSync(bytes) {
        if (!writePieceSync(fd, bytes, position)) return false;
        position += bytes.length;
        return true;
      },
    }),
    async commit() {
      if (fsync) await files.sync(fd);
      await close();
      await files.rename(temporary, path);
    },
    async abort() {
      try {
        await close();
      } finally {
        await files.unlink(temporary);
      }
    },
  };
}

/**
 * Copies the file at `from` to `path`, through `temporary` if there is one. The copy is writable for its owner,
 * even if the original is not. After a failure, no copy is left.
 *
 * @returns the size of the file
 */
export async function copyFile(
  { files, fsync }: ValueFiles,
  from: string,
  path: string,
  temporary = path,
): Promise<number> {
  try {
    await files.copyFile(from, temporary);
    // The system has just written this file's state, so this call does not wait.
    const { size, mode } = lstatSync(temporary);
    if ((mode & OWNER_WRITES) === 0) await files.chmod(temporary, mode | OWNER_WRITES);
    if (fsync) await syncPath(files, temporary);
    if (temporary !== path) await files.rename(temporary, path);
    return size;
  } catch (error) {
    await ignoringFailure(() => files.unlink(temporary));
    throw error;
  }
}

/** Folders cannot be opened on Windows. */
const CAN_SYNC_FOLDERS = process.platform !== "win32";

/** Flushes the entries of the folder at `path` to the disk, if the system supports that. */
export async function syncFolder(files: FileCalls, path: string): Promise<void> {
  if (CAN_SYNC_FOLDERS) await syncPath(files, path);
}

/** Flushes a file, or the entries of a folder, to the disk. */
export async function syncPath(files: FileCalls, path: string): Promise<void> {
  const fd = await files.open(path, constants.O_RDONLY);
  try {
    await files.sync(fd);
  } finally {
    files.release(fd);
  }
}

/** Cleans up after a failure, and ignores errors in doing so: the caller gets the first one. */
async function ignoringFailure(step: () => void | Promise<void>): Promise<void> {
  try {
    await step();
  } catch {}
}

export type Kind = "file" | "folder" | "link" | "other";

/** Returns the kind of entry at a path; undefined if nothing is there. */
export async function kindAt(files: FileCalls, path: string): Promise<Kind | undefined> {
  try {
    const info = await files.lstat(path);
    if (info.isSymbolicLink()) return "link";
    if (info.isDirectory()) return "folder";
    return info.isFile() ? "file" : "other";
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns true if an entry of this kind is at `path`. @throws `path-not-allowed` for a symbolic link. */
export async function isMovable(files: FileCalls, path: string, kind: "file" | "folder"): Promise<boolean> {
  const found = await kindAt(files, path);
  if (found !== "link") return found === kind;
  throw new ZarrflowError(
    "path-not-allowed",
    "a symbolic link cannot be moved, because its target could change",
  );
}

/** Renames a file, or a folder with its contents, replacing at most an empty folder. @throws `target-exists` */
export async function moveTo(files: FileCalls, from: string, to: string): Promise<void> {
  const there = await kindAt(files, to);
  if (there !== undefined && there !== "folder") throw renamedOnto(to);
  try {
    await files.rename(from, to);
  } catch (error) {
    if (hasSystemCode(error, "ENOTEMPTY", "EEXIST", "EISDIR")) throw renamedOnto(to);
    throw error;
  }
}

function renamedOnto(path: string): ZarrflowError {
  return new ZarrflowError("target-exists", "the new name already exists", { value: path });
}
