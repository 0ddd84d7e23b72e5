import { mkdir, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { DirectoryStore } from "../directory.ts";
import { isOwnName } from "../reserved-names.ts";
import { holdsValue } from "./holds-value.ts";
import type { ConstructionOptions, TargetWriter } from "./target-writer.ts";

/** Starts a directory in the new folder `build`, or continues one. */
export async function constructFolder(
  build: string,
  description: string,
  { resumed, fsync = false }: ConstructionOptions,
): Promise<TargetWriter> {
  if (resumed) await removeTemporaryFiles(build);
  else await mkdir(build);
  const store = new DirectoryStore(build, { exclusive: true, fsync, description });
  return {
    store,
    spec: { kind: "directory", path: build, ...(fsync && { fsync }) },
    ...(resumed && { holds: (value, options) => holdsValue(store, value, { ...resumed, ...options }) }),
    finish: async () => {},
    keep: async () => {},
    abort: async () => {},
    reopen: async () => store,
  };
}

/** Removes files that a killed run was writing. */
export async function removeTemporaryFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeTemporaryFiles(path);
    else if (isOwnName(entry.name)) await unlink(path);
  }
}
