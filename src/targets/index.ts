import {
  isListable,
  isWritable,
  type LockOptions,
  type Store,
  type StoreOptions,
  type StoreSpec,
  type TargetBuild,
} from "../stores/store.ts";
import { onThisMachine } from "../stores/store-spec.ts";
import { openStore } from "../stores/url.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { TargetBuildOptions, TargetPlace, TargetPlaceOptions } from "./options.ts";
import { targetFiles } from "./target-files.node.ts";

export type { TargetBuildOptions } from "./options.ts";

/**
 * Starts to build the target that `spec` names. Directories and zips are built in a folder `.NAME.zarrflow-…`
 * beside their final path and then renamed; missing parent folders are created. If an earlier run was killed while
 * it replaced the target, that replacement is finished first.
 *
 * S3 cannot rename, so its keys are written to their final place, and a target that is replaced is deleted first.
 * The same holds for a store of the caller. A zip inside another store is streamed into it, and appears when it is
 * complete.
 *
 * @throws `target-exists`; `invalid-option` if the place cannot be a target; `access-denied`, `no-space`,
 *   `too-many-files`.
 * @example
 * ```ts
 * import { openTargetBuild } from "zarrflow/targets";
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
  if (options.joint && spec.kind !== "directory" && spec.kind !== "s3") {
    throw new ZarrflowError(
      "unsupported-operation",
      "several processes cannot write to this target together",
      {
        value: spec.kind,
        hint: "Use a folder, or a prefix of a bucket.",
      },
    );
  }
  return (await placeOf(spec)).open(options);
}

/**
 * Checks, without writing, that a target can be built at the place that `spec` names.
 *
 * @throws as `openTargetBuild`, except for errors that only writing shows, such as `no-space`.
 */
export async function assertTargetPlace(spec: StoreSpec, options: TargetPlaceOptions): Promise<void> {
  await (await placeOf(spec)).check(options);
}

/** Returns true if it is certain that nothing is at a place. @throws the error that prevents the check */
export async function isPlaceEmpty(spec: StoreSpec, options: StoreOptions): Promise<boolean> {
  return (await (await placeOf(spec)).isEmpty?.(options)) ?? false;
}

/** Checks that no other run is building a target for the place that `spec` names. @throws `locked` */
export async function assertNotBuilt(spec: StoreSpec, options: LockOptions): Promise<void> {
  if (spec.kind !== "directory") return;
  await onThisMachine(targetFiles).assertNotBuilt(spec.path, options);
}

async function placeOf(spec: StoreSpec): Promise<TargetPlace> {
  switch (spec.kind) {
    case "directory":
    case "zip":
      return onThisMachine(targetFiles).place(spec);
    case "memory":
      return (await import("./simple-builds.ts")).memoryPlace(spec.name);
    case "s3":
      return placeIn(await (await import("../stores/s3/open-s3.ts")).openS3(spec));
    case "zip-value":
      return (await import("./zip-value.ts")).zipValuePlace(spec);
    case "http":
      throw new ZarrflowError("unsupported-operation", "a web server is read-only", { store: spec.url });
    case "object":
      return placeIn(await openStore(spec));
    default:
      throw new ZarrflowError("invalid-option", "this is not the spec of a store", {
        value: JSON.stringify(spec),
      });
  }
}

/** Makes a place of the root of a store whose values are written to their final keys. */
async function placeIn(store: Store): Promise<TargetPlace> {
  if (!isWritable(store) || store.singleWriter) {
    throw new ZarrflowError(
      "unsupported-operation",
      isWritable(store) ? "values cannot be deleted from this store" : "this store is read-only",
      { store: store.description, hint: "Use a URL, or a store that can delete values." },
    );
  }
  return isListable(store)
    ? (await import("./in-place-build.ts")).inPlace(store)
    : (await import("./simple-builds.ts")).unlistedPlace(store);
}
