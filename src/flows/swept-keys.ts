import type { Documents } from "../meta/dialect.ts";
import { dialectNamed } from "../meta/dialects.ts";
import { movedKey } from "../meta/key-trees.ts";
import type { ArrayJob, Plan } from "./plan/plan.ts";

/** Consolidated metadata of v2, which a change of dialect leaves behind with all documents. */
const CONSOLIDATED_V2 = ".zmetadata";

/**
 * Tells under which key of the target a key of the source is copied as it is: chunks of verbatim arrays under the
 * target's chunk keys, all else under the same key below the target's path; undefined for documents that are
 * published, for chunks that tasks read, and for what would be taken for a chunk in the target's dialect.
 */
export function sweptKeys(plan: Plan, documents: Documents): (key: string) => string | undefined {
  const jobs = new Map(plan.jobs.map((job) => [job.path, job]));
  const { dialect, from } = plan.publication;
  const source = dialectNamed(from).layout(plan.source.path);
  const target = dialectNamed(dialect).layout(plan.target.path);
  const { sharedKeys, nodeOf, pathOf } = source.hierarchy;
  const published = [...sharedKeys, ...source.documentKeys];
  const isLeftBehind = (key: string) => nodeOf(key) !== undefined || key.endsWith(CONSOLIDATED_V2);
  return (key) => {
    const job = owner(pathOf(key), jobs);
    if (job) {
      const rank = job.source.shape.length;
      const coords = layoutOf(job, "source").parseChunkKey(key, rank, job.source.chunkKeyEncoding);
      if (coords && job.tasks > 0) return undefined;
      if (coords) return layoutOf(job, "target").chunkKey(coords, job.target.chunkKeyEncoding);
    }
    if (published.includes(key) || (from !== dialect && isLeftBehind(key))) return undefined;
    const same = movedKey(key, source, target);
    if (documents.has(same) || (job && isTargetChunk(same, job))) return undefined;
    if (from !== dialect) target.hierarchy.checkKey(same);
    return same;
  };
}

function isTargetChunk(key: string, job: ArrayJob): boolean {
  const { shape, chunkKeyEncoding } = job.target;
  return layoutOf(job, "target").parseChunkKey(key, shape.length, chunkKeyEncoding) !== undefined;
}

/** The job of the nearest array at or above where a key lies. */
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
