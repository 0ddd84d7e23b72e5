import * as fs from "node:fs";
import { promisify } from "node:util";

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
