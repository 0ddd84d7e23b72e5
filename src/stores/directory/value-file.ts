import { constants, lstatSync } from "node:fs";
import { asyncFileCalls, type FileCalls, writeFully } from "../files/file-calls.ts";
import type { StoreWriter } from "../store.ts";
import { writePieceSync } from "./sync-values.ts";

const { O_CREAT, O_EXCL, O_TRUNC, O_WRONLY, S_IWUSR: OWNER_WRITES } = constants;

/** How files that hold values are written. */
export interface ValueFiles {
  readonly files: FileCalls;
  /** Whether each is on the disk before it counts as written. */
  readonly fsync: boolean;
}

/** Writes `bytes` to `path`, in place of what is there; after a failure nothing is there. */
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

/** Writes `bytes` to a new file `temporary`, then renames it to `path`; after a failure `path` is as it was. */
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

/** Writes to a new file `temporary`, which `commit` renames to `path` and `abort` removes. */
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
 * Copies the file at `from` to `path`, by way of `temporary` where there is one; afterwards its owner can write it,
 * whatever holds for the original. After a failure nothing of it is left.
 *
 * @returns its size
 */
export async function copyFile(
  { files, fsync }: ValueFiles,
  from: string,
  path: string,
  temporary = path,
): Promise<number> {
  try {
    await files.copyFile(from, temporary);
    // Known to the system from just now, so this never waits.
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

/** Windows opens no folders. */
const CAN_SYNC_FOLDERS = process.platform !== "win32";

/** Resolves when the names in the folder at `path` are on the disk, where the system can tell. */
export async function syncFolder(files: FileCalls, path: string): Promise<void> {
  if (CAN_SYNC_FOLDERS) await syncPath(files, path);
}

/** Puts a file, or the names in a folder, on the disk. */
export async function syncPath(files: FileCalls, path: string): Promise<void> {
  const fd = await files.open(path, constants.O_RDONLY);
  try {
    await files.sync(fd);
  } finally {
    files.release(fd);
  }
}

/** Tidies up after a failure, which is what the caller hears of. */
async function ignoringFailure(step: () => void | Promise<void>): Promise<void> {
  try {
    await step();
  } catch {}
}
