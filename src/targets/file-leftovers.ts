import { lstat, readdir, realpath, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isOfDead } from "../stores/directory/owner-record.ts";
import { fileError, isDenied, isMissing } from "../stores/files/file-error.ts";
import { taggedState } from "../stores/files/process-record.node.ts";
import { isControlName, isOwnName } from "../stores/reserved-names.ts";
import { ControlFolder } from "./control-folder.ts";
import type { Leftover, LeftoverOptions } from "./leftovers.ts";

/**
 * Lists files of runs beside a file or a folder, and files that they are writing in it. Unreadable folders are
 * skipped.
 */
export async function* fileLeftovers(
  path: string,
  options: Pick<LeftoverOptions, "below"> = {},
): AsyncGenerator<Leftover> {
  const target = await realpath(resolve(path)).catch(() => resolve(path));
  for (const control of await ControlFolder.all(target)) {
    const remove = async () => {
      await control.recover();
      await control.remove();
    };
    yield { kind: "build", place: control.path, isDead: control.isDead, remove };
  }
  yield* temporaryFiles(target, options);
}

/**
 * Removes files in a folder that ended processes of this machine were writing. Ignores files that it cannot
 * remove.
 */
export async function removeFilesOfDead(folder: string): Promise<void> {
  for await (const { place, remove } of temporaryFiles(folder))
    if (taggedState(basename(place)) === "ended") await remove().catch(() => {});
}

async function* temporaryFiles(
  folder: string,
  { below = true }: Pick<LeftoverOptions, "below"> = {},
): AsyncGenerator<Leftover> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (below && entry.isDirectory() && !isOwnName(entry.name)) yield* temporaryFiles(path);
    if (!entry.isFile() || !isOwnName(entry.name) || isControlName(entry.name, basename(dirname(path))))
      continue;
    const { mtimeMs } = await lstat(path);
    yield {
      kind: "file",
      place: path,
      isDead: isOfDead(entry.name, mtimeMs),
      remove: () => unlink(path),
    };
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error) || isDenied(error)) return [];
    throw fileError(error, { store: folder });
  }
}
