import type { Stats } from "node:fs";

/** The version of a file: another file at its path, another size or a later write make another one. */
export function fileVersion({ dev, ino, size, mtimeMs }: Stats): string {
  return `${dev}-${ino}-${size}-${mtimeMs}`;
}

/** The version of a folder: another one at its path makes another one, whatever is written in it does not. */
export function folderVersion({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev}-${ino}-${birthtimeMs}`;
}
