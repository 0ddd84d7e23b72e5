import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { throwIfAborted } from "../../util/abort.ts";
import { isMissing } from "../files/file-error.ts";
import { isOwnName, LOCK_NAME } from "../reserved-names.ts";
import type { ListedRun } from "../store.ts";
import { ownerOf } from "./owner-record.ts";

/**
 * Lists locks below a folder, and control folders of runs that build something there. Symbolic links are not
 * followed.
 */
export async function* runsBelow(
  root: string,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ListedRun> {
  throwIfAborted(signal);
  for (const entry of await entriesOf(join(root, prefix))) {
    const key = prefix + entry.name;
    if (entry.name === LOCK_NAME) yield { key };
    if (!entry.isDirectory()) continue;
    if (!isOwnName(entry.name)) yield* runsBelow(root, `${key}/`, signal);
    else {
      const owner = await ownerOf(join(root, key));
      if (owner) yield { key, isDead: owner.isDead };
    }
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return []; // gone since its parent was listed
    throw error;
  }
}
