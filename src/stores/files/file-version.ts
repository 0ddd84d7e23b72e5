import type { FileStats } from "./file-calls.ts";

/** The version of a file: another file at its path, another size or a later write make another one. */
export function fileVersion({ dev, ino, size, mtimeMs }: FileStats): string {
  return `${dev}-${ino}-${size}-${mtimeMs}`;
}

/** The version of a folder: another one at its path makes another one, whatever is written in it does not. */
export function folderVersion({ dev, ino, birthtimeMs }: FileStats): string {
  return `${dev}-${ino}-${birthtimeMs}`;
}
