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
import { type ByteRange, resolveRange } from "../../util/byte-range.ts";
import type { FileStats } from "../files/file-calls.ts";
import { hasSystemCode } from "../files/file-error.ts";

const { O_CREAT, O_EXCL, O_TRUNC, O_WRONLY } = constants;

/** Up to so many bytes, one read more than there are finds the end of a file for less than asking for its size. */
const SMALL_BYTES = 32 * 1024;

/** Reads the file at `path`, opened with `flags`, into `into`; undefined where it does not fit, or cannot be read. */
export function readFileAtOnce(path: string, flags: number, into: Uint8Array): number | undefined {
  try {
    const fd = openSync(path, flags);
    try {
      const few = Math.min(SMALL_BYTES, into.length);
      let done = readUpTo(fd, into, 0, few);
      // A pipe without a writer reads as an empty file.
      if (done === 0 && !fstatSync(fd).isFile()) return undefined;
      if (done < few) return done;
      if (fstatSync(fd).size >= into.length) return undefined;
      done = readUpTo(fd, into, done, into.length);
      if (done < into.length) return done;
    } finally {
      closeSync(fd);
    }
  } catch {}
  return undefined;
}

/**
 * Reads a range of the file at `path`, opened with `flags`, into what `allocate` gives: no bytes where there is no file.
 *
 * @param check called with what the system knows of the file, before it is read
 * @returns undefined where that fails
 */
export function readRangeAtOnce(
  path: string,
  flags: number,
  range: ByteRange | undefined,
  allocate: (byteLength: number) => Uint8Array,
  check?: (info: FileStats) => void,
): { readonly bytes: Uint8Array | undefined } | undefined {
  try {
    const fd = openSync(path, flags);
    try {
      const info = fstatSync(fd);
      if (!info.isFile()) return undefined;
      check?.(info);
      const { offset, length } = resolveRange(range, info.size);
      const bytes = allocate(length);
      return readUpTo(fd, bytes, 0, length, offset) === length ? { bytes } : undefined;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return hasSystemCode(error, "ENOENT") ? { bytes: undefined } : undefined;
  }
}

/** Writes `bytes` to `path`, in place of what is there. Whether that was done; if not, anything may be there. */
export function writeFileAtOnce(path: string, bytes: Uint8Array): boolean {
  return writeNewFile(path, O_WRONLY | O_CREAT | O_TRUNC, bytes);
}

/** Writes `bytes` to a new file `temporary`, then renames it to `path`. Whether that was done; if not, all is as it was. */
export function replaceFileAtOnce(temporary: string, path: string, bytes: Uint8Array): boolean {
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

/** Reads the bytes from `from` to `end` of what begins at `offset` of a file. @returns where they end. */
function readUpTo(fd: number, into: Uint8Array, from: number, end: number, offset = 0): number {
  let done = from;
  while (done < end) {
    const count = readSync(fd, into, done, end - done, offset + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

function writeNewFile(path: string, flags: number, bytes: Uint8Array): boolean {
  try {
    const fd = openSync(path, flags);
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(fd, bytes, done, bytes.length - done, done);
      }
    } finally {
      closeSync(fd);
    }
    return true;
  } catch {
    return false;
  }
}
