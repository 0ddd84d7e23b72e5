import { constants } from "node:fs";
import { type FileCalls, writeFully } from "../files/file-calls.ts";
import { hasSystemCode, isMissing } from "../files/file-error.ts";
import type { ValueFiles } from "./value-file.ts";

const { O_CREAT, O_EXCL, O_WRONLY } = constants;

/** Writes a file that does not exist yet. Returns false, with nothing changed, if it exists. */
export async function writeNewFile(
  { files, fsync }: ValueFiles,
  path: string,
  bytes: Uint8Array,
): Promise<boolean> {
  let fd: number;
  try {
    fd = await files.open(path, O_WRONLY | O_CREAT | O_EXCL);
  } catch (error) {
    if (hasSystemCode(error, "EEXIST")) return false;
    throw error;
  }
  try {
    await writeFully(files, fd, bytes, 0);
    if (fsync) await files.sync(fd);
  } catch (error) {
    // an empty or incomplete file would block everyone
    await files.unlink(path).catch(() => {});
    throw error;
  } finally {
    await files.close(fd);
  }
  return true;
}

/**
 * Returns the milliseconds since a file was written. The clock is that of the file system, which dates the new
 * file `temporary`, or this machine's if none can be created. Undefined if the file does not exist.
 */
export async function fileAge(
  files: FileCalls,
  path: string,
  temporary: string,
): Promise<number | undefined> {
  try {
    const { mtimeMs } = await files.lstat(path);
    return (await timeBy(files, temporary)) - mtimeMs;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function timeBy(files: FileCalls, temporary: string): Promise<number> {
  try {
    const fd = await files.open(temporary, O_WRONLY | O_CREAT | O_EXCL);
    try {
      return files.stat(fd).mtimeMs;
    } finally {
      await files.close(fd);
      await files.unlink(temporary);
    }
  } catch {
    return Date.now();
  }
}
