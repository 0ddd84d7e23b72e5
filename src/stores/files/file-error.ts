import { type ErrorDetails, type PlainCode, ZarrflowError } from "../../util/errors.ts";

const codes = new Map<string, readonly [PlainCode, string]>([
  ["ENOENT", ["not-found", "there is no such file or folder"]],
  ["EACCES", ["access-denied", "permission denied"]],
  ["EPERM", ["access-denied", "operation not permitted"]],
  ["EROFS", ["access-denied", "the file system is read-only"]],
  ["ENOSPC", ["no-space", "no space left on the device"]],
  ["EDQUOT", ["no-space", "the disk quota is exhausted"]],
  ["EFBIG", ["no-space", "the file exceeds the size limit of the file system or of this process"]],
  ["EMFILE", ["too-many-files", "too many open files in this process"]],
  ["ENFILE", ["too-many-files", "too many open files on this machine"]],
  ["ENAMETOOLONG", ["path-not-allowed", "the file name is too long"]],
  ["ELOOP", ["path-not-allowed", "too many symbolic links"]],
  ["ENOTDIR", ["path-not-allowed", "there is a file in place of a folder"]],
  ["ENXIO", ["corrupt-store", "this is neither a file nor a folder"]],
  ["ENODEV", ["corrupt-store", "this is neither a file nor a folder"]],
  ["EEXIST", ["path-not-allowed", "there is a file in place of a folder"]],
  ["EISDIR", ["path-not-allowed", "there is a folder in place of a file"]],
  ["ENOTEMPTY", ["path-not-allowed", "there is a folder in place of a file"]],
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

export interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
}
