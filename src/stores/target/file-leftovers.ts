import { lstat, readdir, realpath, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isMissing } from "../files/file-error.ts";
import { isControlName, isOwnName } from "../reserved-names.ts";
import { ControlFolder } from "./control-folder.ts";
import type { Leftover } from "./leftover.ts";
import { DEAD_AFTER } from "./owner-record.ts";

/** What runs have beside a file or a folder, and files that they are writing in it. */
export async function* fileLeftovers(path: string): AsyncGenerator<Leftover> {
  const target = await realpath(resolve(path)).catch(() => resolve(path));
  for (const control of await ControlFolder.all(target)) {
    const remove = async () => {
      await control.mend();
      await control.remove();
    };
    yield { kind: "build", place: control.path, isDead: control.isDead, remove };
  }
  yield* temporaryFiles(target);
}

async function* temporaryFiles(folder: string): AsyncGenerator<Leftover> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !isOwnName(entry.name)) yield* temporaryFiles(path);
    if (!entry.isFile() || !isOwnName(entry.name) || isControlName(entry.name, basename(dirname(path))))
      continue;
    const { mtimeMs } = await lstat(path);
    yield {
      kind: "file",
      place: path,
      isDead: Date.now() - mtimeMs > DEAD_AFTER,
      remove: () => unlink(path),
    };
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
