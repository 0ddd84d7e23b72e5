import type { LockOptions, StoreSpec } from "../stores/store.ts";

type FileSpec = Extract<StoreSpec, { readonly kind: "directory" | "zip" }>;

const here = {
  place: async (spec: FileSpec) => (await import("./file-build.ts")).filePlace(spec),
  assertNotBuilt: async (path: string, options: LockOptions) =>
    (await import("./control-folder.ts")).assertFolderNotBuilt(path, options),
  leftovers: () => import("./file-leftovers.ts"),
};

/** Targets in the file system of this machine, each part loaded on first use; undefined in browsers. */
export const targetFiles: typeof here | undefined = here;
