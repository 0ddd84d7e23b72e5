import * as fs from "node:fs";
import { promisify } from "node:util";
import { type ErrorDetails, type PlainCode, ZarrflowError } from "../../util/errors.ts";

/** The part of Node's `Stats` that stores use. */
export interface FileStats {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly birthtimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/**
 * The file calls that stores make without blocking the thread. Reads and writes may be partial, like those of the
 * system. Only `getSync` and `setSync` of a store make blocking calls.
 */
export interface FileCalls {
  open(path: string, flags: number): Promise<number>;
  /** Returns the state of an open file, which is in memory, so the call does not wait. */
  stat(fd: number): FileStats;
  read(fd: number, into: Uint8Array, offset: number, length: number, position: number): Promise<number>;
  write(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): Promise<number>;
  /** Closes a file that was only read, which does not wait. */
  release(fd: number): void;
  close(fd: number): Promise<void>;
  lstat(path: string): Promise<FileStats>;
  realpath(path: string): Promise<string>;
  makeFolder(path: string): Promise<void>;
  removeFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  /** Copies to a new file with a call of the file system, which shares blocks if it can. */
  copyFile(from: string, to: string): Promise<void>;
  /** Flushes the file or folder to the disk, so that it survives a loss of power. */
  sync(fd: number): Promise<void>;
}

const read = promisify(fs.read);
const write = promisify(fs.write);

export const asyncFileCalls: FileCalls = {
  open: promisify(fs.open),
  stat: fs.fstatSync,
  read: async (fd, into, offset, length, position) =>
    (await read(fd, into, offset, length, position)).bytesRead,
  write: async (fd, bytes, offset, length, position) =>
    (await write(fd, bytes, offset, length, position)).bytesWritten,
  release: fs.closeSync,
  close: promisify(fs.close),
  lstat: fs.promises.lstat,
  realpath: promisify(fs.realpath.native),
  makeFolder: promisify((path: string, done: fs.NoParamCallback) => fs.mkdir(path, done)),
  removeFolder: promisify((path: string, done: fs.NoParamCallback) => fs.rmdir(path, done)),
  rename: promisify(fs.rename),
  unlink: promisify(fs.unlink),
  chmod: promisify(fs.chmod),
  copyFile: promisify((from: string, to: string, done: fs.NoParamCallback) =>
    fs.copyFile(from, to, fs.constants.COPYFILE_FICLONE, done),
  ),
  sync: promisify(fs.fsync),
};

/** Fills `into` from `position`. Returns a smaller count only if the file ends. */
export async function readFully(
  files: FileCalls,
  fd: number,
  into: Uint8Array,
  position: number,
): Promise<number> {
  let done = 0;
  while (done < into.length) {
    const count = await files.read(fd, into, done, into.length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

export async function writeFully(
  files: FileCalls,
  fd: number,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += await files.write(fd, bytes, done, bytes.length - done, position + done);
  }
}

interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
}

const codes = new Map<string, readonly [PlainCode, string]>([
  ["ENOENT", ["not-found", "there is no such file or folder"]],
  ["EACCES", ["access-denied", "permission denied"]],
  ["EPERM", ["access-denied", "operation not permitted"]],
  ["EROFS", ["access-denied", "the file system is read-only"]],
  ["ENOSPC", ["no-space", "no space left on the device"]],
  ["EDQUOT", ["no-space", "the disk quota is exhausted"]],
  ["EFBIG", ["no-space", "the file is too large for the file system or a limit of this process"]],
  ["EMFILE", ["too-many-files", "too many open files in this process"]],
  ["ENFILE", ["too-many-files", "too many open files on this machine"]],
  ["ENAMETOOLONG", ["path-not-allowed", "the file name is too long"]],
  ["ELOOP", ["path-not-allowed", "too many symbolic links"]],
  ["ENOTDIR", ["path-not-allowed", "a file is in the place of a folder"]],
  ["ENXIO", ["corrupt-store", "this is neither a file nor a folder"]],
  ["ENODEV", ["corrupt-store", "this is neither a file nor a folder"]],
  ["EEXIST", ["path-not-allowed", "a file is in the place of a folder"]],
  ["EISDIR", ["path-not-allowed", "a folder is in the place of a file"]],
  ["ENOTEMPTY", ["path-not-allowed", "a folder is in the place of a file"]],
]);

/** True if a file call failed because the path does not exist or is not a file. No other failure means missing. */
export function isMissing(error: unknown): boolean {
  return isSystemError(error) && ["ENOENT", "ENOTDIR", "EISDIR"].includes(error.code);
}

/** True if a file call failed because this user lacks the permission. */
export function isDenied(error: unknown): boolean {
  return hasSystemCode(error, "EACCES", "EPERM");
}

/** True if `error` is from the system and has one of these codes, such as `EEXIST`. */
export function hasSystemCode(error: unknown, ...codes: readonly string[]): boolean {
  return isSystemError(error) && codes.includes(error.code);
}

/** Converts a system error to a `ZarrflowError` with `details`; returns other errors unchanged. */
export function fileError(error: unknown, details: ErrorDetails): unknown {
  if (!isSystemError(error)) return error;
  const known = codes.get(error.code);
  if (known) return new ZarrflowError(...known, details, { cause: error });
  return new ZarrflowError("transient", `${error.syscall} failed with ${error.code}`, details, {
    cause: error,
  });
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && "code" in error && "syscall" in error;
}
