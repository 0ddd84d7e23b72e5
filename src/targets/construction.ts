import { mkdir, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { DirectoryStore } from "../stores/directory.ts";
import { isOwnName } from "../stores/reserved-names.ts";
import type { Store, StoreSpec, TargetBuild, WritableStore } from "../stores/store.ts";
import { holdsValue } from "./holds-value.ts";
import type { ResumeOptions, TargetBuildOptions } from "./options.ts";

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

export interface ConstructionOptions extends TargetBuildOptions {
  /** Present if an earlier run has started this construction. */
  readonly resumed: ResumeOptions | undefined;
}

/** The writer of a build. */
export interface TargetWriter {
  readonly store: WritableStore;
  readonly spec?: StoreSpec;
  readonly holds?: TargetBuild["holds"];
  /** Writes the rest. */
  finish(): Promise<void>;
  /** Releases handles and leaves the build to be resumed. Absent if that is not possible. */
  keep?(): Promise<void>;
  /** Releases handles. */
  abort(): Promise<void>;
  reopen(): Promise<Store>;
}
