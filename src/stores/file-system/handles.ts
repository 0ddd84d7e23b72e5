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
