import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { sep } from "node:path";
import { ZarrflowError } from "../../util/errors.ts";
import { compareUtf8 } from "../../util/utf8-order.ts";
import type { FileCalls } from "../file-calls.ts";
import { isMissing } from "../file-error.ts";
import { folderOf } from "../key.ts";
import { isOwnName } from "../own-names.ts";
import type { Folders } from "./folders.ts";

/**
 * All keys below `prefix`, sorted by UTF-8 bytes. Holds the names in the folders on the way to the current key, no
 * more.
 */
export async function* walkKeys(
  folders: Folders,
  files: FileCalls,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  const way = [{ prefix, rest: (await namesIn(folders, files, prefix)).reverse() }];
  for (let here = way.at(-1); here !== undefined; here = way.at(-1)) {
    signal?.throwIfAborted();
    const name = here.rest.pop();
    if (name === undefined) way.pop();
    else if (!name.endsWith("/")) yield here.prefix + name;
    else {
      const below = here.prefix + name;
      way.push({ prefix: below, rest: (await namesIn(folders, files, below)).reverse() });
    }
  }
}

/**
 * What is in the folder at `prefix`, sorted by UTF-8 bytes: names of files, and names of folders with `/` at the end.
 * Empty where there is no folder.
 */
export async function namesIn(folders: Folders, files: FileCalls, prefix: string): Promise<string[]> {
  const names: string[] = [];
  try {
    if (!(await folders.has(prefix.slice(0, -1)))) return names;
    for await (const entry of await opendir(folders.pathOf(prefix.slice(0, -1)), { bufferSize: 1024 })) {
      const kind = isOwnName(entry.name) ? undefined : await kindOf(folders, files, entry, prefix);
      if (kind === "file") names.push(entry.name);
      if (kind === "folder") names.push(`${entry.name}/`);
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return names.sort(compareUtf8);
}

type Kind = "file" | "folder" | undefined;

/** Symbolic links are what they point to, if that is inside; to nothing, they are nothing. */
function kindOf(folders: Folders, files: FileCalls, entry: Dirent, prefix: string): Kind | Promise<Kind> {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return lookAt(folders, files, prefix + entry.name);
}

async function lookAt(folders: Folders, files: FileCalls, key: string): Promise<Kind> {
  try {
    const info = await files.lstat(folders.pathOf(key));
    const isLink = info.isSymbolicLink();
    const target = isLink ? await files.lstat(await folders.follow(key)) : info;
    if (target.isFile()) return "file";
    if (!target.isDirectory()) return undefined;
    if (isLink) await refuseCycle(folders, key);
    return "folder";
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Refuses a link to a folder that holds one of the folders on the way to the link: a walk would never end. */
async function refuseCycle(folders: Folders, link: string): Promise<void> {
  const target = await folders.follow(link);
  for (let above = link; above !== ""; ) {
    above = folderOf(above);
    if (`${await folders.follow(above)}${sep}`.startsWith(`${target}${sep}`)) {
      throw new ZarrflowError("path-not-allowed", "a symbolic link leads back to a folder above it", {
        key: link,
      });
    }
  }
}
