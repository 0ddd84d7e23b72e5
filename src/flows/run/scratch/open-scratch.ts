import { assertGridStrategy, type GridStrategy } from "../../../hierarchy/read-options.ts";
import type { StoreSpec } from "../../../stores/store.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { isNode } from "../../../util/platform.node.ts";
import { machine } from "../machine.node.ts";
import type { OpenScratchOptions, Scratch } from "./scratch.ts";

/** The strategy that is asked for; `direct` where scratch objects have no place: in browsers, unless they are given one. */
export function possibleStrategy(
  strategy: GridStrategy | undefined,
  place: StoreSpec | undefined,
): GridStrategy | undefined {
  assertGridStrategy(strategy);
  return strategy ?? (isNode || place ? undefined : "direct");
}

/**
 * Makes an empty place for scratch objects, under a name of its own within the store that is given; or opens the one that
 * an earlier run has left, where it is there still.
 *
 * @throws `no-space` where a disk has less than is needed; `invalid-option` for what is neither a folder, a bucket nor memory.
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

/** Removes the folders of scratch objects that killed runs have left in a place, and that no run can resume any more. */
export async function removeLeftScratch(place: StoreSpec | undefined): Promise<void> {
  if (place !== undefined && place.kind !== "directory") return;
  await machine?.removeScratch(place?.path);
}
