import { gridShape } from "../../meta/array-metadata.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { Store } from "../../stores/store.ts";
import { product } from "../../util/shape.ts";
import type { ArrayJob } from "../plan/plan.ts";

/** Counts the listed chunks of arrays that are copied unchanged. */
export class ListedChunks {
  readonly #counts = new Map<ArrayJob, number>();

  readonly count = (job: ArrayJob): void => {
    this.#counts.set(job, (this.#counts.get(job) ?? 0) + 1);
  };

  /** Notifies the source of each array with chunks that were not listed. */
  noteMissing(source: Store, jobs: readonly ArrayJob[]): void {
    if (source.noteMissing === undefined) return;
    for (const job of jobs) {
      if (job.tasks > 0 || (this.#counts.get(job) ?? 0) >= storedKeys(job)) continue;
      source.noteMissing(formatNamed(job.source.zarrFormat).layout(job.path).chunksPrefix);
    }
  }
}

/** Number of keys of an array without missing chunks or shards. */
function storedKeys({ source: { shape, chunkShape, shardShape } }: ArrayJob): number {
  return product(gridShape(shape, shardShape ?? chunkShape));
}
