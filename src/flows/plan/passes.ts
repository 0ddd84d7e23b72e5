import type { Region } from "../../streams/chunk.ts";
import type { ArrayJob, ScratchPass } from "./plan.ts";
import { countBoxes, evenSplit, firstOf, type Split } from "./splits.ts";

/** What of a job says how its items are split, pass by pass. */
export type SplitJob = Pick<ArrayJob, "selection" | "source" | "target" | "window" | "step"> & {
  readonly passes?: readonly Pick<ScratchPass, "box">[];
};

/** The stage of a job that makes target chunks; those before it are passes. */
export function lastStage({ passes = [] }: SplitJob): number {
  return passes.length;
}

/** How the items of the target are split in a stage of a job, a dimension each: by scratch objects, or at last by windows. */
export function splitsOf(job: SplitJob, stage: number): Split[] {
  const { selection, source, target, passes = [] } = job;
  const pass = passes[stage];
  if (pass === undefined) {
    const chunks = job.step ?? job.window;
    return target.shape.map((n, d) => evenSplit(n, (chunks[d] ?? 1) * (target.chunkShape[d] ?? 1)));
  }
  if (stage > 0) return target.shape.map((n, d) => evenSplit(n, pass.box[d] ?? 1));
  return selection.shape.map((length, d) => {
    const aligned = (source.shardShape ?? source.chunkShape)[d] ?? 1;
    const start = (selection.start[d] ?? 0) % aligned;
    return { start, step: selection.step[d] ?? 1, size: pass.box[d] ?? 1, length };
  });
}

/** How many boxes there are along each dimension. */
export function boxGrid(splits: readonly Split[]): number[] {
  return splits.map(countBoxes);
}

/** The items of the box at `coords`. */
export function boxRegion(splits: readonly Split[], coords: readonly number[]): Region {
  const start = splits.map((split, d) => firstOf(split, coords[d] ?? 0));
  const end = splits.map((split, d) => firstOf(split, (coords[d] ?? 0) + 1));
  return { start, shape: end.map((to, d) => to - (start[d] ?? 0)) };
}
