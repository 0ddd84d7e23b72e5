import { gridShape } from "../../meta/array-metadata.ts";
import type { Documents, NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { movedKey } from "../../meta/node-layout.ts";
import type { ArrayJob, Plan } from "../../plan/plan.ts";
import { type TargetTask, taskAt } from "../../plan/task.ts";
import { keysToCopy, layoutOfSide } from "../../run/keys/keys-to-copy.ts";
import { chunksPerShard, type Region } from "../../streams/chunk.ts";
import { nearest } from "../../util/node-path.ts";
import { coordsOf, indexOf } from "../../util/shape.ts";

/** Origin of the value under a key of a plan's target: a document, a value of the source, or a task. */
export type KeyOrigin = { readonly document: Uint8Array } | { readonly sourceKey: string } | MadeByTask;

export interface MadeByTask {
  readonly task: TargetTask;
  /** Position among the task's values, in C order. */
  readonly place: number;
}

/** Finds the origin of each value of a plan's target. */
export class KeyOrigins {
  readonly plan: Plan;
  readonly documents: Documents;
  readonly source: NodeLayout;
  readonly target: NodeLayout;
  /** Maps a copied key to its key in the target; from `keysToCopy`. */
  readonly targetKeyOf: (key: string) => string | undefined;
  readonly #jobs: ReadonlyMap<string, ArrayJob>;

  constructor(plan: Plan, documents: Documents) {
    const { from, zarrFormat } = plan.publication;
    this.plan = plan;
    this.documents = documents;
    this.source = formatNamed(from).layout(plan.source.path);
    this.target = formatNamed(zarrFormat).layout(plan.target.path);
    this.targetKeyOf = keysToCopy(plan, documents);
    this.#jobs = new Map(plan.jobs.map((job) => [job.targetPath, job]));
  }

  /** The array that a key or prefix belongs to. */
  jobOf(key: string): ArrayJob | undefined {
    return nearest(this.target.hierarchy.pathOf(key), this.#jobs);
  }

  /** Origin of the value under a key; undefined if the target has no such key. */
  originOf(key: string): KeyOrigin | undefined {
    const document = this.documents.get(key);
    if (document) return { document };
    const job = this.jobOf(key);
    const { chunkKeyEncoding, shape, chunkShape, shardShape } = job?.target ?? NO_GRID;
    const coords = job && layoutOfSide(job, "target").parseChunkKey(key, shape.length, chunkKeyEncoding);
    const grid = gridShape(shape, shardShape ?? chunkShape);
    const isInside = coords?.every((at, d) => at < (grid[d] ?? 0)) === true;
    if (job && coords && isMade(job)) return isInside ? this.madeBy(job, coords) : undefined;
    const sourceKey =
      job && coords
        ? layoutOfSide(job, "source").chunkKey(coords, job.source.chunkKeyEncoding)
        : movedKey(key, this.target, this.source);
    const isThere = this.plan.publication.copyKeys ? this.targetKeyOf(sourceKey) === key : isInside;
    return isThere ? { sourceKey } : undefined;
  }

  /** The task that makes the chunk (or shard) at `coords`. */
  madeBy(job: ArrayJob, coords: readonly number[]): MadeByTask {
    const { shape, chunkShape } = job.target;
    const each = chunksPerValue(job);
    const windows = gridShape(gridShape(shape, chunkShape), job.window);
    const at = coords.map((n, d) => Math.floor((n * (each[d] ?? 1)) / (job.window[d] ?? 1)));
    const task = taskAt(this.plan, 0, job.firstTask + indexOf(at, windows));
    if (task.kind !== "target") throw new RangeError("tasks that run on demand need no scratch objects");
    const { start, shape: values } = valuesOfWindow(task);
    return {
      task,
      place: indexOf(
        coords.map((n, d) => n - (start[d] ?? 0)),
        values,
      ),
    };
  }
}

const NO_GRID: Pick<ArrayJob["target"], "chunkKeyEncoding" | "shape" | "chunkShape" | "shardShape"> = {
  chunkKeyEncoding: { name: "default", separator: "/" },
  shape: [],
  chunkShape: [],
};

/** True if tasks make the values of an array; otherwise it keeps the source's stored bytes. */
export function isMade({ strategy, tasks, source, target }: ArrayJob): boolean {
  return (
    tasks > 0 &&
    (strategy !== "verbatim" || source.shardShape !== undefined || target.shardShape !== undefined)
  );
}

/** Keys of all values that a task can make, in C order; empty ones may be left out when it runs. */
export function keysOf(task: TargetTask): string[] {
  const { job } = task;
  const { start, shape } = valuesOfWindow(task);
  const layout = layoutOfSide(job, "target");
  return Array.from(coordsOf(shape), (at) => {
    const coords = at.map((n, d) => n + (start[d] ?? 0));
    return layout.chunkKey(coords, job.target.chunkKeyEncoding);
  });
}

/** The window of a task, in shards, or in chunks if there are none. */
function valuesOfWindow({ job, window }: TargetTask): Region {
  const each = chunksPerValue(job);
  return {
    start: window.start.map((n, d) => n / (each[d] ?? 1)),
    shape: gridShape(window.shape, each),
  };
}

function chunksPerValue({ target }: ArrayJob): readonly number[] {
  return chunksPerShard(target) ?? target.shape.map(() => 1);
}
