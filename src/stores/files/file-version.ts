import type { FileStats } from "./file-calls.ts";

/** Returns the version of a file, which changes if the file is replaced, resized or written to. */
export function fileVersion({ dev, ino, size, mtimeMs }: FileStats): string {
  return `${dev}-${ino}-${size}-${mtimeMs}`;
}

/**
 * Returns the version of a folder, which changes if the folder is replaced, but not if something is written in it.
 */
export function folderVersion({ dev, ino, birthtimeMs }: FileStats): string {
  return `${dev}-${ino}-${birthtimeMs}`;
}
