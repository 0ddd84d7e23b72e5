import { directWindows, leastDirectBytes } from "../direct-windows.ts";
import { decodedInFlight } from "../in-flight-bytes.ts";
import { type Strategy, shares } from "./strategy.ts";

/** Changes the grid in windows. A source chunk that several windows touch is decoded for each of them. */
export const direct: Strategy<"direct", true> = {
  name: "direct",
  summary: "read source chunks and assemble windows of whole target chunks",
  decodes: true,
  changesGrid: true,
  whyNot: () => undefined,
  inFlight: ({ source }) => decodedInFlight(source),
  leastBytes: leastDirectBytes,
  *candidates(request) {
    for (const maxMemory of shares(request)) {
      const windows = directWindows({ ...request, maxMemory });
      const isLast = maxMemory === request.maxMemory;
      if (isLast || windows.leaseBytes <= maxMemory) yield { windows };
    }
  },
  slabs: (_, straight) => [straight],
  stages: () => ["decode", "regrid", "encode"],
};
