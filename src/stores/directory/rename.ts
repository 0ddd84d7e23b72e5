import { ZarrflowError } from "../../util/errors.ts";
import type { FileCalls } from "../files/file-calls.ts";
import { hasSystemCode, isMissing } from "../files/file-error.ts";

export type Kind = "file" | "folder" | "link" | "other";

/** Returns the kind of entry at a path; undefined if nothing is there. */
export async function kindAt(files: FileCalls, path: string): Promise<Kind | undefined> {
  try {
    const info = await files.lstat(path);
    if (info.isSymbolicLink()) return "link";
    if (info.isDirectory()) return "folder";
    return info.isFile() ? "file" : "other";
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns true if an entry of this kind is at `path`. @throws `path-not-allowed` for a symbolic link. */
export async function isMovable(files: FileCalls, path: string, kind: "file" | "folder"): Promise<boolean> {
  const found = await kindAt(files, path);
  if (found !== "link") return found === kind;
  throw new ZarrflowError(
    "path-not-allowed",
    "a symbolic link cannot be moved, because its target could change",
  );
}

/** Renames a file, or a folder with its contents, replacing at most an empty folder. @throws `target-exists` */
export async function moveTo(files: FileCalls, from: string, to: string): Promise<void> {
  const there = await kindAt(files, to);
  if (there !== undefined && there !== "folder") throw renamedOnto(to);
  try {
    await files.rename(from, to);
  } catch (error) {
    if (hasSystemCode(error, "ENOTEMPTY", "EEXIST", "EISDIR")) throw renamedOnto(to);
    throw error;
  }
}

function renamedOnto(path: string): ZarrflowError {
  return new ZarrflowError("target-exists", "the new name exists already", { value: path });
}
