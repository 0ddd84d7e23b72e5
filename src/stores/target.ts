import { ZarrflowError } from "../util/errors.ts";
import { isListable, isWritable, type Store, type StoreSpec, type TargetBuild } from "./store.ts";
import type { TargetBuildOptions } from "./target/options.ts";
import { openStore } from "./url.ts";

export type { TargetBuildOptions } from "./target/options.ts";

/**
 * Begins to build the target that `spec` names. Directories and zips are built in a folder `.NAME.zarrflow-…` beside
 * their final path and renamed; folders above that are missing are made. A replacement that an earlier run was killed
 * amid is ended first. In S3, where nothing can be renamed, keys are written at their place, and a target that is
 * replaced is deleted before; so in a store that is the caller's. A zip inside another store is streamed into it, and
 * appears when it is whole.
 *
 * @throws `target-exists`; `invalid-option` for what can be no target; `access-denied`, `no-space`, `too-many-files`.
 * @example
 * ```ts
 * import { openTargetBuild } from "zarrflow/stores/target";
 *
 * const build = await openTargetBuild({ kind: "zip", path: "out.zarr.zip" }, { ifExists: "error" });
 * try {
 *   await build.store.set(".zgroup", new TextEncoder().encode('{"zarr_format": 2}'));
 *   await build.publish();
 * } catch (error) {
 *   await build.discard();
 *   throw error;
 * }
 * ```
 */
export async function openTargetBuild(spec: StoreSpec, options: TargetBuildOptions): Promise<TargetBuild> {
  switch (spec.kind) {
    case "directory":
    case "zip":
      return (await import("./target/file-build.ts")).openFileBuild(spec, options);
    case "memory":
      return (await import("./target/memory-build.ts")).openMemoryBuild(spec.name, options);
    case "s3": {
      const [{ openS3 }, { openInPlaceBuild }] = await Promise.all([
        import("./s3/open-s3.ts"),
        import("./target/in-place-build.ts"),
      ]);
      return openInPlaceBuild(await openS3(spec), options);
    }
    case "zip-value":
      return (await import("./target/zip-value-build.ts")).openZipValueBuild(spec, options);
    case "http":
      throw new ZarrflowError("unsupported-operation", "a web server can only be read", { store: spec.url });
    case "object":
      return openBuildIn(await openStore(spec), options);
  }
}

/** Builds in a store of the caller's, under the keys where the values stay. */
async function openBuildIn(store: Store, options: TargetBuildOptions): Promise<TargetBuild> {
  if (!isWritable(store) || store.singleWriter) {
    throw new ZarrflowError(
      "unsupported-operation",
      isWritable(store) ? "what is written there cannot be taken back" : "this store can only be read",
      { store: store.description, hint: "Name a store whose values are written one by one, or a URL." },
    );
  }
  return isListable(store)
    ? (await import("./target/in-place-build.ts")).openInPlaceBuild(store, options)
    : (await import("./target/unlisted-build.ts")).openUnlistedBuild(store, options);
}
