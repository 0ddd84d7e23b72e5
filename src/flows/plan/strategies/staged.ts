import { product } from "../../../util/shape.ts";
import { leastDirectBytes } from "../direct-windows.ts";
import { decodedInFlight } from "../in-flight-bytes.ts";
import { stagedSlabs } from "../staged-slabs.ts";
import { stagedWindows } from "../staged-windows.ts";
import { type Strategy, shares } from "./strategy.ts";

/**
 * Number of volumes of scratch objects and windows to try. The first is the largest that may fit; each next one is
 * a third.
 */
const VOLUMES = 6;
const VOLUME_STEP = 3;
const LARGEST_VOLUME = 2 ** 29;
const MAX_PASSES = 4;

/** Changes the grid with scratch objects, in which each source chunk stores the items of each window. */
export const staged: Strategy<"staged", true> = {
  name: "staged",
  summary: "read each source chunk once, and write scratch objects that each window reads",
  decodes: true,
  changesGrid: true,
  whyNot: () => undefined,
  inFlight: ({ source }) => decodedInFlight(source),
  leastBytes: leastDirectBytes,
  *candidates(request) {
    if (product(request.selection.shape) === 0) return;
    for (const maxMemory of shares(request)) {
      let fits = false;
      let volume = Math.min(LARGEST_VOLUME, Math.floor(maxMemory / 2));
      for (let i = 0; i < VOLUMES; i++, volume = Math.floor(volume / VOLUME_STEP)) {
        for (const sized of stagedWindows({ ...request, maxMemory, volume, maxPasses: MAX_PASSES })) {
          fits = true;
          yield sized;
        }
      }
      if (fits) return;
    }
  },
  slabs: (request) => stagedSlabs(request, "staged"),
  stages(task) {
    if (task.kind === "target") return ["regrid", "encode"];
    return task.pass === 0 ? ["decode", "gather"] : ["gather"];
  },
};
