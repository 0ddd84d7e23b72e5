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
import { hasSystemCode } from "../file-error.ts";

const { O_CREAT, O_EXCL, O_TRUNC, O_WRONLY } = constants;

/** Up to so many bytes, one read more than there are finds the end of a file for less than asking for its size. */
const FEW_BYTES = 32 * 1024;

/** Reads the file at `path`, opened with `flags`, into `into`; undefined where it does not fit, or cannot be read. */
export function readFileAtOnce(path: string, flags: number, into: Uint8Array): number | undefined {
  try {
    const fd = openSync(path, flags);
    try {
      let done = 0;
      const endsBefore = (most: number) => {
        while (done < most) {
          const count = readSync(fd, into, done, most - done, done);
          if (count === 0) return true;
          done += count;
        }
        return false;
      };
      if (endsBefore(Math.min(FEW_BYTES, into.length))) return done;
      if (fstatSync(fd).size < into.length && endsBefore(into.length)) return done;
    } finally {
      closeSync(fd);
    }
  } catch {}
  return undefined;
}

/**
 * Reads a range of the file at `path`, opened with `flags`, into what `allocate` gives: no bytes where there is no file.
 *
 * @returns undefined where that fails
 */
export function readRangeAtOnce(
  path: string,
  flags: number,
  range: ByteRange | undefined,
  allocate: (byteLength: number) => Uint8Array,
): { readonly bytes: Uint8Array | undefined } | undefined {
  try {
    const fd = openSync(path, flags);
    try {
      const info = fstatSync(fd);
      if (!info.isFile()) return undefined;
      const { offset, length } = resolveRange(range, info.size);
      const bytes = allocate(length);
      for (let done = 0; done < length; ) {
        const count = readSync(fd, bytes, done, length - done, offset + done);
        if (count === 0) return undefined;
        done += count;
      }
      return { bytes };
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
