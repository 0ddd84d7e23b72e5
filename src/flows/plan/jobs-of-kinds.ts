import type { ArrayJob, ScratchPass } from "./plan.ts";

/** A job without its names and task numbers. Arrays that differ only in name share it. */
export interface JobKind extends Omit<ArrayJob, "path" | "targetPath" | "firstTask" | "passes"> {
  readonly passes?: readonly Omit<ScratchPass, "firstTask">[];
}

export interface JobOfKind extends Pick<ArrayJob, "path" | "targetPath"> {
  readonly kind: JobKind;
}

/** Builds the jobs of arrays, in the order of their tasks, and counts the tasks of each stage. */
export function jobsOfKinds(arrays: readonly JobOfKind[]): {
  readonly jobs: readonly ArrayJob[];
  readonly stages: readonly number[];
} {
  const stages: number[] = [];
  const jobs = arrays.map(({ path, targetPath, kind }): ArrayJob => {
    const { passes, ...rest } = kind;
    const numbered = passes?.map((pass, stage) => ({ ...pass, firstTask: stages[stage] ?? 0 }));
    const firstTask = stages[passes?.length ?? 0] ?? 0;
    for (const [stage, { tasks }] of [...(passes ?? []), kind].entries()) {
      stages[stage] = (stages[stage] ?? 0) + tasks;
    }
    return { path, targetPath, ...rest, ...(numbered && { passes: numbered }), firstTask };
  });
  return { jobs, stages };
}

export function kindOf({
  path: _,
  targetPath: _target,
  firstTask: _first,
  passes,
  ...rest
}: ArrayJob): JobKind {
  return { ...rest, ...(passes && { passes: passes.map(({ firstTask: _, ...pass }) => pass) }) };
}
