import type { FlowEvent, Progress, RunCounts } from "../../flows/events.ts";
import type { Plan } from "../../flows/plan/plan.ts";
import { formatBytes } from "../../util/byte-size.ts";
import { grouped } from "../text/numbers.ts";
import type { ProgressUpdate } from "./progress-update.ts";
import { bytesProgress } from "./read-progress.ts";

/**
 * How far a run is: reading is half of the work and writing the other, each by the chunks that the plan counts.
 * Chunks that an update finds to be right are done; those that are not there make it end early.
 */
export function flowProgress({
  jobs,
}: Plan): (counts: RunCounts & Pick<Progress, "keysKept">) => ProgressUpdate {
  const reads = jobs.reduce((sum, job) => sum + job.chunksRead, 0);
  const writes = jobs.reduce((sum, job) => sum + job.chunksWritten, 0);
  return ({ chunksRead, chunksWritten, bytesRead, bytesWritten, keysKept = 0 }) => ({
    fraction:
      reads * writes > 0
        ? (part(chunksRead + keysKept, reads) + part(chunksWritten + keysKept, writes)) / 2
        : undefined,
    bytes: bytesRead + bytesWritten,
    words: [
      `${formatBytes(bytesRead)} in`,
      `${formatBytes(bytesWritten)} out`,
      `${grouped(Math.min(chunksWritten + keysKept, writes))}/${grouped(writes)} chunks`,
    ],
  });
}

/** The same by the events of a run; undefined for those that say nothing of how far it is. */
export function eventAdvance(plan: Plan): (event: FlowEvent) => ProgressUpdate | undefined {
  let advance = flowProgress(plan);
  let latest: ProgressUpdate = { bytes: 0, words: [] };
  return (event) => {
    if (event.type === "plan") advance = flowProgress(event.plan);
    if (event.type === "progress") latest = advance(event.progress);
    else if (event.type === "verify") latest = { bytes: latest.bytes, words: readBack(event) };
    else if (event.type === "read") latest = { bytes: latest.bytes, words: compared(event) };
    else return undefined;
    return latest;
  };
}

function readBack({ keys, allKeys }: Extract<FlowEvent, { type: "verify" }>): string[] {
  return ["reading back", `${grouped(keys)}/${grouped(allKeys)} keys`];
}

function compared({ path, bytes, allBytes }: Extract<FlowEvent, { type: "read" }>): string[] {
  return ["comparing values", path, ...bytesProgress(bytes, allBytes).words].filter(Boolean);
}

function part(done: number, all: number): number {
  return Math.min(1, done / all);
}
