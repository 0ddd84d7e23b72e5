import { readFootprint } from "../../../streams/read-chunks.ts";
import type { InFlight } from "../in-flight-bytes.ts";
import { whyNotSameCoding, whyNotSameFill, whyNotSameGrid } from "../same-arrays.ts";
import { leastSameGridBytes, sameGridWindows } from "../same-grid-windows.ts";
import type { Sides } from "../task-memory.ts";

import { mayMiss, type Strategy } from "./strategy.ts";

const inFlight = ({ source }: Sides): InFlight => ({
  waiting: readFootprint(source, source.shardShape !== undefined),
  working: 0,
});

/** Keeps the grid and codecs. */
export const verbatim: Strategy<"verbatim", false> = {
  name: "verbatim",
  summary: "copy stored bytes as they are",
  decodes: false,
  changesGrid: false,
  whyNot({ from, to, selection, missing }) {
    const notSame = whyNotSameGrid(from, to, selection) ?? whyNotSameCoding(from, to);
    if (notSame !== undefined) return notSame;
    if (mayMiss(missing)) return "missing chunks are written, because the fill values differ";
    return missing === undefined ? whyNotSameFill(from, to) : undefined;
  },
  inFlight,
  leastBytes: (request) => leastSameGridBytes(request, inFlight),
  candidates: (request) => [{ windows: sameGridWindows(request, inFlight) }],
  stages: () => [],
};
