import { lastStage } from "../passes.ts";
import { pieceFootprint } from "../scratch-layout.ts";
import type { Task } from "../task.ts";
import { strategyNamed } from "./strategies.ts";

/**
 * Returns what a task has in flight, source chunks or pieces of scratch objects, and the maximum bytes of a waiting
 * one.
 */
export function inFlightOf(task: Task): {
  readonly isOfSource: boolean;
  readonly readAhead: number;
  readonly bytesPerChunk: number;
} {
  const { job } = task;
  const pass = task.kind === "scratch" ? task.pass : lastStage(job);
  const readAhead = job.passes?.[pass]?.readAhead ?? job.readAhead;
  const isOfSource = pass === 0;
  return {
    isOfSource,
    readAhead,
    bytesPerChunk: isOfSource
      ? strategyNamed(job.strategy).inFlight(job).waiting
      : pieceFootprint(job, pass - 1),
  };
}
