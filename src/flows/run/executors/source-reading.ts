import type { OpenNodeOptions } from "../../../hierarchy/open/open-node.ts";
import type { ArrayJob, Plan } from "../../plan/plan.ts";

/** How the source of a job is opened again: as it was for the plan, whatever had to be looked for then. */
export function readingOf(
  { source }: Plan,
  job: ArrayJob,
): Pick<OpenNodeOptions, "zarrFormat" | "v1Order" | "v2"> {
  const { zarrFormat, chunkKeyEncoding } = job.source;
  return { ...source.reading, zarrFormat, v2: { separator: chunkKeyEncoding.separator } };
}
