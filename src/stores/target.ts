import { ZarrflowError } from "../util/errors.ts";
import type { StoreSpec, TargetBuild } from "./store.ts";
import type { TargetBuildOptions } from "./target/options.ts";

export type { TargetBuildOptions } from "./target/options.ts";

/**
 * Begins to build the target that `spec` names. Directories and zips are built in a folder `.NAME.zarrflow-…` beside
 * their final path and renamed; folders above that are missing are made. A replacement that an earlier run was killed
 * amid is ended first. In S3, where nothing can be renamed, keys are written at their place, and a target that is
 * replaced is deleted before.
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
      throw new ZarrflowError("unsupported-operation", "a zip inside another store cannot be written yet", {
        hint: "Write it to a file, and copy that.",
      });
    case "http":
      throw new ZarrflowError("unsupported-operation", "a web server can only be read", { store: spec.url });
    case "object":
      throw new ZarrflowError("invalid-option", "a store that is an object of the caller's cannot be built", {
        store: spec.description,
      });
  }
}
