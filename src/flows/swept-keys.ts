import type { DialectName } from "../meta/array-metadata.ts";
import type { Documents } from "../meta/dialect.ts";
import { dialectNamed } from "../meta/dialects.ts";
import { joinKey } from "../meta/join-key.ts";
import type { ArrayJob, Plan } from "./plan/plan.ts";

/** Names of metadata documents, which a change of dialect leaves behind. */
const DOCUMENT_NAMES: Readonly<Record<DialectName, readonly string[]>> = {
  v1: ["meta", "attrs"],
  v2: [".zarray", ".zgroup", ".zattrs", ".zmetadata"],
  "v3-draft-2019": [],
  v3: ["zarr.json"],
};

/**
 * Tells under which key of the target a key of the source is copied as it is: chunks of verbatim arrays under the
 * target's chunk keys, all else under the same key below the target's path; undefined for documents that are
 * published, for chunks that tasks read, and for what would be taken for a chunk in the target's dialect.
 */
export function sweptKeys(plan: Plan, documents: Documents): (key: string) => string | undefined {
  const jobs = new Map(plan.jobs.map((job) => [job.path, job]));
  const prefix = joinKey(plan.source.path, "").length;
  const { dialect, from } = plan.publication;
  const leftBehind = from === dialect ? [] : DOCUMENT_NAMES[from];
  return (key) => {
    const job = owner(key, jobs);
    if (job) {
      const rank = job.source.shape.length;
      const coords = layoutOf(job, "source").parseChunkKey(key, rank, job.source.chunkKeyEncoding);
      if (coords && job.tasks > 0) return undefined;
      if (coords) return layoutOf(job, "target").chunkKey(coords, job.target.chunkKeyEncoding);
    }
    if (leftBehind.includes(key.slice(key.lastIndexOf("/") + 1))) return undefined;
    const same = joinKey(plan.target.path, key.slice(prefix));
    return documents.has(same) || (job && isTargetChunk(same, job)) ? undefined : same;
  };
}

function isTargetChunk(key: string, job: ArrayJob): boolean {
  const { shape, chunkKeyEncoding } = job.target;
  return layoutOf(job, "target").parseChunkKey(key, shape.length, chunkKeyEncoding) !== undefined;
}

/** The job of the nearest array at or above a key. */
function owner(key: string, jobs: ReadonlyMap<string, ArrayJob>): ArrayJob | undefined {
  for (let end = key.lastIndexOf("/"); end >= 0; end = key.lastIndexOf("/", end - 1)) {
    const job = jobs.get(key.slice(0, end));
    if (job) return job;
    if (end === 0) break;
  }
  return jobs.get("");
}

function layoutOf(job: ArrayJob, side: "source" | "target") {
  return dialectNamed(job[side].dialect).layout(side === "source" ? job.path : job.targetPath);
}
