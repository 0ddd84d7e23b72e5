import { type ErrorDetails, type PlainCode, ZarrflowError } from "../../util/errors.ts";

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

/** Whether a file call failed because nothing, or no file, is at the path. Nothing else means missing. */
export function isMissing(error: unknown): boolean {
  return isSystemError(error) && ["ENOENT", "ENOTDIR", "EISDIR"].includes(error.code);
}

/** Whether a file call failed because this user may not do that. */
export function isDenied(error: unknown): boolean {
  return hasSystemCode(error, "EACCES", "EPERM");
}

/** Whether `error` is of the system and has this code, such as `EEXIST`. */
export function hasSystemCode(error: unknown, ...codes: readonly string[]): boolean {
  return isSystemError(error) && codes.includes(error.code);
}

/** What to throw for the failure of a file call: system errors as ours, with `details`; all else as it is. */
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
