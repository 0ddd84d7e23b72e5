import type { Convention } from "../convention.ts";
import { listsOfMembers } from "./left-members.ts";
import { omeToV2 } from "./to-v2.ts";
import { omeToV3 } from "./to-v3.ts";

/**
 * OME-Zarr: images in several resolutions, their labels, plates and collections, described by attributes of groups.
 * Zarr v2 uses version 0.4. Zarr v3 uses version 0.5, which has the same metadata under `ome` and requires the names
 * of the axes in the arrays too.
 */
export const omeZarr: Convention = {
  name: "OME-Zarr",
  ofOthers: /^(?:ome|multiscales|labels|plate|well|series)$/,
  convert(nodes, change) {
    if (change.to === "v3") return omeToV3(nodes, change);
    return change.from === "v3" && change.to === "v2" ? omeToV2(nodes, change) : nodes;
  },
  follow: listsOfMembers,
};
