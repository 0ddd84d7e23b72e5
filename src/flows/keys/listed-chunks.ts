import { gridShape } from "../../meta/array-metadata.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { Store } from "../../stores/store.ts";
import { product } from "../../util/shape.ts";
import type { ArrayJob } from "../plan/plan.ts";

/** Counts the keys of chunks in a listing of a source whose arrays are copied as they are. */
export class ListedChunks {
  readonly #counts = new Map<ArrayJob, number>();

  readonly count = (job: ArrayJob): void => {
    this.#counts.set(job, (this.#counts.get(job) ?? 0) + 1);
  };

  /** Reports to the source each array some of whose chunks were not listed. */
  noteMissing(source: Store, jobs: readonly ArrayJob[]): void {
    if (source.noteMissing === undefined) return;
    for (const job of jobs) {
      if (job.tasks > 0 || (this.#counts.get(job) ?? 0) >= storedKeys(job)) continue;
      source.noteMissing(formatNamed(job.source.zarrFormat).layout(job.path).chunksPrefix);
    }
  }
}

/** Keys that the chunks, or shards, of an array have where none is missing. */
function storedKeys({ source: { shape, chunkShape, shardShape } }: ArrayJob): number {
  return product(gridShape(shape, shardShape ?? chunkShape));
}
