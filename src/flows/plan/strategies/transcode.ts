import { encodeFootprint } from "../../../streams/encode-chunks.ts";
import { pooledSize } from "../../../streams/pooled-size.ts";
import { decodedInFlight, type InFlight } from "../in-flight-bytes.ts";
import { whyNotSameGrid, whyNotSameLayout } from "../same-arrays.ts";
import { leastSameGridBytes, sameGridWindows } from "../same-grid-windows.ts";
import type { Sides } from "../task-memory.ts";
import type { Strategy } from "./strategy.ts";

/** Memory of a chunk, which waits as read or as encoded; in between it is decoded and encoded. */
function inFlight({ source, target }: Sides): InFlight {
  const { waiting, working } = decodedInFlight(source);
  return {
    waiting: Math.max(waiting, pooledSize(target.maxEncodedSize)),
    working: Math.max(working, pooledSize(target.decodedSize) + encodeFootprint(target)),
  };
}

/** Keeps the grid and changes codecs. */
export const transcode: Strategy<"transcode", false> = {
  name: "transcode",
  summary: "decode and encode each chunk",
  decodes: true,
  changesGrid: false,
  whyNot: ({ from, to, selection, pipelines }) =>
    whyNotSameGrid(from, to, selection) ??
    (pipelines && whyNotSameLayout(pipelines.reading, pipelines.writing)),
  inFlight,
  leastBytes: (request) => leastSameGridBytes(request, inFlight),
  candidates: (request) => [{ windows: sameGridWindows(request, inFlight) }],
  stages: () => ["decode", "encode"],
};
