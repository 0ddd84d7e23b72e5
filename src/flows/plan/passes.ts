import type { Region } from "../../streams/chunk.ts";
import type { ArrayJob, ScratchPass } from "./plan.ts";
import { countBoxes, evenSplit, firstOf, type Split } from "./splits.ts";

/** The parts of a job that determine how items are split in each pass. */
export type SplitJob = Pick<ArrayJob, "selection" | "source" | "target" | "window" | "step"> & {
  readonly passes?: readonly Pick<ScratchPass, "box">[];
};

/** Index of the stage that makes target chunks; all stages before it are passes. */
export function lastStage({ passes = [] }: SplitJob): number {
  return passes.length;
}

/**
 * Returns how a stage splits the items of the target along each dimension: into scratch objects, or into windows in
 * the last stage.
 */
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

/** Number of boxes along each dimension. */
export function boxGrid(splits: readonly Split[]): number[] {
  return splits.map(countBoxes);
}

/** The items of the box at `coords`. */
export function boxRegion(splits: readonly Split[], coords: readonly number[]): Region {
  const start = splits.map((split, d) => firstOf(split, coords[d] ?? 0));
  const end = splits.map((split, d) => firstOf(split, (coords[d] ?? 0) + 1));
  return { start, shape: end.map((to, d) => to - (start[d] ?? 0)) };
}
