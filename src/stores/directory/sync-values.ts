import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { resolveRange } from "../../util/byte-range.ts";
import { plainBuffers } from "../../util/bytes.ts";
import type { FileStats } from "../files/file-calls.ts";
import { hasSystemCode } from "../files/file-error.ts";
import type { GetOptions, SyncRead } from "../store.ts";

const { O_CREAT, O_EXCL, O_TRUNC, O_WRONLY } = constants;

/** Up to this many bytes, reading past the end of a file is cheaper than looking up its size. */
const SMALL_BYTES = 32 * 1024;

/**
 * Reads the file at `path`, opened with `flags`, into the start of `into`. The result has no bytes if the file is
 * missing.
 *
 * @returns undefined if reading fails, or the file does not fit
 */
export function readIntoSync(path: string, flags: number, into: Uint8Array): SyncRead | undefined {
  try {
    const fd = openSync(path, flags);
    try {
      const few = Math.min(SMALL_BYTES, into.length);
      let done = readUpTo(fd, into, 0, few);
      // A pipe without a writer reads like an empty file.
      if (done === 0 && !fstatSync(fd).isFile()) return undefined;
      if (done === few) {
        if (fstatSync(fd).size > into.length) return undefined;
        done = readUpTo(fd, into, done, into.length);
      }
      return { bytes: into.subarray(0, done) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return afterFailure(error);
  }
}

/**
 * Reads the file at `path`, opened with `flags`, or a range of it. The result has no bytes if the file is missing.
 *
 * @param check called with the state of the file before it is read
 * @returns undefined if reading fails, or there are more than `maxBytes`
 */
export function readValueSync(
  path: string,
  flags: number,
  { range, allocate = plainBuffers.take, maxBytes = Number.POSITIVE_INFINITY }: GetOptions,
  check?: (info: FileStats) => void,
): SyncRead | undefined {
  try {
    const fd = openSync(path, flags);
    try {
      const info = fstatSync(fd);
      if (!info.isFile()) return undefined;
      check?.(info);
      const { offset, length } = resolveRange(range, info.size);
      if (length > maxBytes) return undefined;
      const bytes = allocate(length);
      return readUpTo(fd, bytes, 0, length, offset) === length ? { bytes } : undefined;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return afterFailure(error);
  }
}

function afterFailure(error: unknown): SyncRead | undefined {
  return hasSystemCode(error, "ENOENT") ? { bytes: undefined } : undefined;
}

/**
 * Writes `bytes` to `path`, replacing an existing file. Returns false on failure; the file may then contain
 * anything.
 */
export function writeValueSync(path: string, bytes: Uint8Array): boolean {
  return writeNewFile(path, O_WRONLY | O_CREAT | O_TRUNC, bytes);
}

/**
 * Writes `bytes` to a new file `temporary`, then renames it to `path`. Returns false on failure, with `path`
 * unchanged.
 */
export function replaceValueSync(temporary: string, path: string, bytes: Uint8Array): boolean {
  try {
    if (writeNewFile(temporary, O_WRONLY | O_CREAT | O_EXCL, bytes)) {
      renameSync(temporary, path);
      return true;
    }
  } catch {}
  try {
    unlinkSync(temporary);
  } catch {}
  return false;
}

/**
 * Reads the bytes from `from` to `end` of the data that start at `offset` in a file. @returns the end of the bytes
 * read.
 */
function readUpTo(fd: number, into: Uint8Array, from: number, end: number, offset = 0): number {
  let done = from;
  while (done < end) {
    const count = readSync(fd, into, done, end - done, offset + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

/** Writes `bytes` at a position of an open file. Returns false on failure; a part may then be written. */
export function writePieceSync(fd: number, bytes: Uint8Array, position: number): boolean {
  try {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(fd, bytes, done, bytes.length - done, position + done);
    }
    return true;
  } catch {
    return false;
  }
}

function writeNewFile(path: string, flags: number, bytes: Uint8Array): boolean {
  try {
    const fd = openSync(path, flags);
    try {
      return writePieceSync(fd, bytes, 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}
