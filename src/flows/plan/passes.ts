import type { Region } from "../../streams/chunk.ts";
import type { ArrayJob, ScratchRound } from "./plan.ts";
import { type Cuts, countBoxes, evenCuts, firstOf } from "./splits.ts";

/** What of a job says how its items are cut, round by round. */
export type CutJob = Pick<ArrayJob, "selection" | "source" | "target" | "window" | "step"> & {
  readonly rounds?: readonly Pick<ScratchRound, "box">[];
};

/** The stage of a job that makes target chunks; those before it are rounds. */
export function lastStage({ rounds = [] }: CutJob): number {
  return rounds.length;
}

/** How the items of the target are cut in a stage of a job, a dimension each: by scratch objects, or at last by windows. */
export function cutsOf(job: CutJob, stage: number): Cuts[] {
  const { selection, source, target, rounds = [] } = job;
  const round = rounds[stage];
  if (round === undefined) {
    const chunks = job.step ?? job.window;
    return target.shape.map((n, d) => evenCuts(n, (chunks[d] ?? 1) * (target.chunkShape[d] ?? 1)));
  }
  if (stage > 0) return target.shape.map((n, d) => evenCuts(n, round.box[d] ?? 1));
  return selection.shape.map((length, d) => {
    const aligned = (source.shardShape ?? source.chunkShape)[d] ?? 1;
    const start = (selection.start[d] ?? 0) % aligned;
    return { start, step: selection.step[d] ?? 1, size: round.box[d] ?? 1, length };
  });
}

/** How many boxes there are along each dimension. */
export function boxGrid(cuts: readonly Cuts[]): number[] {
  return cuts.map(countBoxes);
}

/** The items of the box at `coords`. */
export function boxRegion(cuts: readonly Cuts[], coords: readonly number[]): Region {
  const start = cuts.map((cut, d) => firstOf(cut, coords[d] ?? 0));
  const end = cuts.map((cut, d) => firstOf(cut, (coords[d] ?? 0) + 1));
  return { start, shape: end.map((to, d) => to - (start[d] ?? 0)) };
}
