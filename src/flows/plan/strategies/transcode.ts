import { pooledSize } from "../../../streams/buffer-pool.ts";
import { decodeFootprint } from "../../../streams/decode-chunks.ts";
import { encodeFootprint } from "../../../streams/encode-chunks.ts";
import { whyNotSameGrid, whyNotSameLayout } from "../same-arrays.ts";
import { leastSameGridBytes, sameGridWindows } from "../same-grid-windows.ts";
import type { Sides } from "../task-memory.ts";
import type { Strategy } from "./strategy.ts";

/** A chunk is decoded, then encoded: the one or the other holds the most. */
const inFlightBytes = ({ source, target }: Sides) =>
  Math.max(decodeFootprint(source), pooledSize(target.decodedSize) + encodeFootprint(target));

/** The same grid, other codecs. */
export const transcode: Strategy<"transcode", false> = {
  name: "transcode",
  summary: "decode and encode each chunk",
  decodes: true,
  changesGrid: false,
  whyNot: ({ from, to, selection, pipelines }) =>
    whyNotSameGrid(from, to, selection) ??
    (pipelines && whyNotSameLayout(pipelines.reading, pipelines.writing)),
  inFlightBytes,
  leastBytes: (request) => leastSameGridBytes(request, inFlightBytes),
  candidates: (request) => [{ windows: sameGridWindows(request, inFlightBytes) }],
  stages: () => ["decode", "encode"],
};
