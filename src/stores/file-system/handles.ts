import { type ErrorDetails, isZarrflowError, type PlainCode, ZarrflowError } from "../../util/errors.ts";
import type { OwnBytes } from "../../util/platform-types.ts";

/** The bytes of a file in a browser: a `Blob` or a `File`. */
export interface BlobLike {
  readonly size: number;
  /** Milliseconds since 1970; absent if unknown. */
  readonly lastModified?: number;
  slice(start: number, end: number): BlobLike;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * A writable stream to a file, a `FileSystemWritableFileStream`. The file contains the bytes once it is closed.
 */
export interface FileWritable {
  write(bytes: OwnBytes): Promise<void>;
  close(): Promise<void>;
  abort(reason?: unknown): Promise<void>;
}

/** A file: a `FileSystemFileHandle`. */
export interface FileHandle {
  readonly kind: "file";
  readonly name: string;
  getFile(): Promise<BlobLike>;
  createWritable(): Promise<FileWritable>;
  /**
   * Moves the file, replacing one of that name. Absent in some browsers, and fails in others outside the site's
   * own files.
   */
  move?(folder: FolderHandle, name: string): Promise<void>;
}

/** A folder: a `FileSystemDirectoryHandle`. */
export interface FolderHandle {
  readonly kind: "directory";
  readonly name: string;
  getDirectoryHandle(name: string, options?: { readonly create?: boolean }): Promise<FolderHandle>;
  getFileHandle(name: string, options?: { readonly create?: boolean }): Promise<FileHandle>;
  removeEntry(name: string): Promise<void>;
  values(): AsyncIterable<FolderHandle | FileHandle>;
}

interface Meaning {
  readonly code: PlainCode;
  readonly reason: string;
  readonly hint?: string;
}

const ACCESS: Meaning = {
  code: "access-denied",
  reason: "the browser denies this access",
  hint: 'Ask the user first: handle.requestPermission({ mode: "readwrite" }).',
};
const IN_PLACE: Meaning = {
  code: "path-not-allowed",
  reason: "there is a folder in place of a file, or a file in place of a folder",
};

const meanings = new Map<string, Meaning>([
  ["NotAllowedError", ACCESS],
  ["SecurityError", ACCESS],
  ["NotFoundError", { code: "not-found", reason: "the file or folder no longer exists" }],
  ["TypeMismatchError", IN_PLACE],
  ["InvalidModificationError", IN_PLACE],
  ["TypeError", { code: "path-not-allowed", reason: "the browser does not allow this name" }],
  [
    "QuotaExceededError",
    {
      code: "no-space",
      reason: "the browser allows this site no more storage",
      hint: "Delete stored data of this site, or choose a folder on disk.",
    },
  ],
  [
    "NoModificationAllowedError",
    {
      code: "locked",
      reason: "another page or worker is writing to the file",
      hint: "Wait until it is done, or close it.",
    },
  ],
  [
    "NotReadableError",
    {
      code: "source-changed",
      reason: "the file was changed, moved or removed after it was selected",
      hint: "Select it again.",
    },
  ],
]);

/** True for an error of the browser with one of these names, such as `NotFoundError`. */
export function isBrowserError(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}

/** Converts an error of the browser to a `ZarrflowError` with `details`. */
export function browserError(error: unknown, details: ErrorDetails): unknown {
  if (isZarrflowError(error)) return error.addContext(details);
  if (!(error instanceof DOMException) && !(error instanceof TypeError)) return error;
  const known = meanings.get(error.name);
  const options = { cause: error };
  if (known === undefined) {
    const reason = `the browser failed: ${error.name}: ${error.message}`;
    return new ZarrflowError("transient", reason, details, options);
  }
  const { code, reason, hint } = known;
  return new ZarrflowError(code, reason, { ...details, ...(hint && { hint }) }, options);
}
