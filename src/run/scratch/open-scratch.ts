import { assertGridStrategy, type GridStrategy } from "../../hierarchy/read-options.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Task, taskAt } from "../../plan/task.ts";
import type { StoreOptions, StoreSpec, WritableStore } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { isNode } from "../../util/platform.node.ts";
import { machine } from "../machine.node.ts";
import type { TaskSet } from "../scheduler.ts";
import { scratchPlace } from "./read-scratch.ts";
import type { OpenScratchOptions, Scratch } from "./scratch.ts";

/**
 * The requested strategy; by default `direct` if there is no place for scratch objects, as in browsers without a given
 * one.
 */
export function possibleStrategy(
  strategy: GridStrategy | undefined,
  place: StoreSpec | undefined,
): GridStrategy | undefined {
  assertGridStrategy(strategy);
  return strategy ?? (isNode || place ? undefined : "direct");
}

/**
 * Creates an empty place for scratch objects, under a unique name within the given store. If an earlier run left one
 * that still exists, opens that one.
 *
 * @throws `no-space` if the disk has too little free space; `invalid-option` for a place other than a folder, a bucket
 *   or memory.
 */
export async function openScratch({ place, ...options }: OpenScratchOptions): Promise<Scratch> {
  if (place === undefined || place.kind === "directory") {
    if (machine !== undefined) return machine.openScratch(place?.path, options);
    throw new ZarrflowError(
      "unsupported-operation",
      "there is no folder for scratch objects on this platform",
      {
        hint: "Pass a store for them (`scratch`), or use the strategy `direct`.",
      },
    );
  }
  return (await import("./scratch-store.ts")).openScratchStore(place, options);
}

/** Removes folders of scratch objects that killed runs left in a place and that no run can resume. */
export async function removeLeftScratch(place: StoreSpec | undefined): Promise<void> {
  if (place !== undefined && place.kind !== "directory") return;
  await machine?.removeScratch(place?.path);
}

export interface WithScratchOptions extends Pick<OpenScratchOptions, "keptBy" | "left" | "joint"> {
  /** Returns true if the scratch objects are kept after this failure. */
  readonly isKept: (error: unknown) => boolean;
}

/**
 * Runs a callback with a place for the scratch objects of a plan, if it needs one, and removes that place afterwards.
 * After a failure it is kept if a later run can use it.
 *
 * @throws what `run` throws; as `openScratch`.
 */
export async function withScratch(
  plan: Plan,
  { isKept, ...options }: WithScratchOptions,
  run: (scratch?: Scratch) => Promise<void>,
): Promise<void> {
  if (plan.stages.length < 2) return run();
  const scratch = await openScratch({ place: plan.scratch, bytes: plan.totals.scratchBytes, ...options });
  try {
    await run(scratch);
  } catch (error) {
    await (isKept(error) ? scratch.keep() : scratch.remove()).catch(() => {});
    throw error;
  }
  await scratch.remove();
}

/**
 * Marks a completed task as not done if its scratch object is gone and still needed, that is, if a task of the next
 * stage is not done.
 */
export async function redoLost(
  plan: Plan,
  done: TaskSet,
  scratch: WritableStore,
  { signal }: StoreOptions,
): Promise<void> {
  for (let stage = plan.stages.length - 1; stage > 0; stage--) {
    if ([...tasksOf(plan, stage)].every(({ number }) => done.has(number))) continue;
    const check = async (task: Task, context: StoreOptions) => {
      if (task.kind !== "scratch" || !done.has(task.number)) return;
      const size = await scratch.size(scratchPlace(task, scratch).chunkKey(task.coords), context);
      if (size === undefined) done.delete(task.number);
    };
    await forEachConcurrent(tasksOf(plan, stage - 1), check, {
      concurrency: plan.execution.concurrency,
      signal,
    });
  }
}

function* tasksOf(plan: Plan, stage: number): Generator<Task> {
  for (let index = 0; index < (plan.stages[stage] ?? 0); index++) yield taskAt(plan, stage, index);
}
