import type { OwnBytes } from "../../util/platform-types.ts";

/** A file's bytes as browsers hand them out: a `Blob`, or a `File`. */
export interface BlobLike {
  readonly size: number;
  /** Milliseconds since 1970; absent where that is unknown. */
  readonly lastModified?: number;
  slice(start: number, end: number): BlobLike;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** What takes the bytes of a file, which has them once it is closed: a `FileSystemWritableFileStream`. */
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
  /** Takes the place of a file of that name. Absent in some browsers, and fails outside of their own files. */
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
