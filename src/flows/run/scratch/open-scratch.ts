import { assertGridStrategy, type GridStrategy } from "../../../hierarchy/read-options.ts";
import type { StoreSpec } from "../../../stores/store.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { isNode } from "../../../util/platform.node.ts";
import { machine } from "../machine.node.ts";
import type { OpenScratchOptions, Scratch } from "./scratch.ts";

/**
 * The requested strategy; by default `direct` if there is no place for scratch objects, as in browsers without a given
 * one.
 */
export function possibleStrategy(
  strategy: GridStrategy | undefined,
  place: StoreSpec | undefined,
): GridStrategy | undefined {
  assertGridStrategy(strategy);
  return strategy ?? (isNode || place ? undefined : "direct");
}

/**
 * Creates an empty place for scratch objects, under a unique name within the given store. If an earlier run left one
 * that still exists, opens that one.
 *
 * @throws `no-space` if the disk has too little free space; `invalid-option` for a place other than a folder, a bucket
 *   or memory.
 */
export async function openScratch({ place, ...options }: OpenScratchOptions): Promise<Scratch> {
  if (place === undefined || place.kind === "directory") {
    if (machine !== undefined) return machine.openScratch(place?.path, options);
    throw new ZarrflowError("unsupported-operation", "there are no folders for scratch objects here", {
      hint: "Name a store for them (`scratch`), or use the strategy `direct`.",
    });
  }
  return (await import("./scratch-store.ts")).openScratchStore(place, options);
}

/** Removes folders of scratch objects that killed runs left in a place and that no run can resume. */
export async function removeLeftScratch(place: StoreSpec | undefined): Promise<void> {
  if (place !== undefined && place.kind !== "directory") return;
  await machine?.removeScratch(place?.path);
}
