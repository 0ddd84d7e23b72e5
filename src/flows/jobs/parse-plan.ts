import { gridShape } from "../../meta/array-metadata.ts";
import { type JobKind, type JobOfKind, jobsOfKinds } from "../../plan/array-job.ts";
import { pathFilter } from "../../plan/key-filter.ts";
import type { Plan } from "../../plan/plan.ts";
import { targetPath } from "../../plan/request.ts";
import { assertCountable } from "../../plan/same-arrays.ts";
import { boxGrid, lastStage, splitsOf } from "../../plan/windows.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { isAtOrBelow } from "../../util/node-path.ts";
import { product } from "../../util/shape.ts";
import { checksumOf, PLAN_FILE_FORMAT, type PlanFile, type WrittenPlanFile } from "./plan-file.ts";
import { notAPlan, planFileShape } from "./plan-shape.ts";

type WrittenPlan = WrittenPlanFile["plan"];

/** Maximum number of tasks of a plan. Each takes one bit of memory, and some time. */
const MAX_TASKS = 2 ** 31;

/**
 * Reads a plan from the text of a file, which can come from anybody. The content must be a plan that this version could
 * have made, with every path and key inside its store.
 *
 * @throws `plan-mismatch` for a text that is no plan, was edited, or is of another version; `resource-limit` if it has
 *   too many tasks.
 */
export function parsePlan(source: string): PlanFile {
  const { checksum, ...rest } = parsedObject(source);
  if (rest.format !== PLAN_FILE_FORMAT) throw ofAnotherFormat(rest.format);
  const file = rest as unknown as WrittenPlanFile;
  if (checksum !== checksumOf(file)) throw notAPlan("the plan was changed after it was written", "/checksum");
  planFileShape(file, "");
  assertPaths(file.plan);
  for (const [i, kind] of file.plan.kinds.entries()) assertKind(kind, file.plan, `/plan/kinds/${i}`);
  const { kinds: _, ...plan } = file.plan;
  const { jobs, stages } = jobsOfKinds(arraysOf(file.plan));
  assertStages(stages, plan);
  return { ...file, plan: { ...plan, jobs } };
}

/** @throws `plan-mismatch` for an array without a description. */
function arraysOf({ source, target, kinds, jobs }: WrittenPlan): JobOfKind[] {
  return jobs.map(([path, number], i) => {
    const kind = kinds[number];
    if (kind === undefined) throw notAPlan("the array is not described", `/plan/jobs/${i}/1`, number);
    return { path, targetPath: targetPath(path, source.path, target.path), kind };
  });
}

function parsedObject(source: string): { readonly [name: string]: unknown } {
  try {
    const found: unknown = JSON.parse(source);
    if (typeof found === "object" && found !== null && !Array.isArray(found)) {
      return found as { readonly [name: string]: unknown };
    }
  } catch {
    // not JSON
  }
  throw notAPlan("this is not the text of a plan", "");
}

function ofAnotherFormat(found: unknown): ZarrflowError {
  const isOlder = typeof found === "string" && found.startsWith("zarrflow-plan");
  return new ZarrflowError(
    "plan-mismatch",
    isOlder ? "the plan has another format than this version runs" : "this is not a plan",
    {
      expected: PLAN_FILE_FORMAT,
      found: typeof found === "string" ? found.slice(0, 40) : "no format",
      hint: "Make it with `zarrflow plan`, with the version of zarrflow that is to run it. The output of --dry-run --json is not such a plan.",
    },
  );
}

/**
 * Checks that all arrays are below the plan's node, with different paths, and that the target and the filter are valid.
 */
function assertPaths({ source, target, jobs, publication }: WrittenPlan): void {
  const taken = new Set<string>();
  if (target.store.kind !== "directory" && target.store.kind !== "s3") {
    throw notAPlan("the target must be a folder or a prefix of a bucket", "/plan/target/store");
  }
  for (const [i, [path]] of jobs.entries()) {
    if (!isAtOrBelow(path, source.path) || taken.has(path)) {
      throw notAPlan("this is outside the source, or another array's", `/plan/jobs/${i}/0`, path);
    }
    taken.add(path);
  }
  try {
    pathFilter(publication.filter ?? {});
  } catch (error) {
    if (isZarrflowError(error)) throw notAPlan(error.message, "/plan/publication/filter");
    throw error;
  }
}

/** Checks that windows and passes make exactly this number of tasks, and that each fits the budget. */
function assertKind(kind: JobKind, { source, budget, publication }: WrittenPlan, pointer: string): void {
  if (kind.target.zarrFormat !== publication.zarrFormat) {
    throw notAPlan("an array must have the format of its hierarchy", pointer);
  }
  assertRanks(kind, pointer);
  const parts = [...(kind.passes ?? []), kind];
  for (const [stage, part] of parts.entries()) {
    const isLast = stage === lastStage(kind);
    const all = isLast ? windowsOf(kind) : product(boxGrid(splitsOf(kind, stage)));
    const isNone = part.tasks === 0 && parts.length === 1;
    if (part.tasks !== all && !isNone) {
      throw notAPlan("these are other tasks than the windows of the array make", `${pointer}/tasks`);
    }
    if (part.leaseBytes > budget.maxMemory)
      throw notAPlan("a task needs more than the memory budget", pointer);
  }
  if (kind.tasks === 0) return;
  const chunks = Math.max(kind.chunksRead, product(gridShape(kind.target.shape, kind.target.chunkShape)));
  assertCountable({ items: product(kind.selection.shape), chunks }, source.path);
}

function assertStages(found: readonly number[], { stages, scratch }: Omit<Plan, "jobs">): void {
  if (found.length !== stages.length || found.some((tasks, stage) => tasks !== stages[stage])) {
    throw notAPlan("the stages have other tasks than the arrays", "/plan/stages");
  }
  const all = stages.reduce((sum, tasks) => sum + tasks, 0);
  if (all > MAX_TASKS) {
    throw new ZarrflowError("resource-limit", "the plan has too many tasks", {
      expected: MAX_TASKS,
      found: all,
    });
  }
  if (stages.length > 1 && scratch === undefined)
    throw notAPlan("a staged plan needs a place", "/plan/scratch");
}

function windowsOf({ target, window }: JobKind): number {
  return product(gridShape(gridShape(target.shape, target.chunkShape), window));
}

/** Checks that all sizes have the array's rank, and that the selection is inside the source. */
function assertRanks(job: JobKind, pointer: string): void {
  const { source, target, selection, window, step, passes = [] } = job;
  const rank = source.shape.length;
  const all = [
    source.chunkShape,
    source.shardShape,
    target.shape,
    target.chunkShape,
    target.shardShape,
    selection.start,
    selection.step,
    selection.shape,
    selection.cycle,
    window,
    step,
    ...passes.map(({ box }) => box),
  ];
  if (all.some((sizes) => sizes !== undefined && sizes.length !== rank)) {
    throw notAPlan("sizes of one array must have the same number of dimensions", pointer);
  }
  const isInside = source.shape.every((length, d) => {
    const items = selection.shape[d] ?? 0;
    const last = (selection.start[d] ?? 0) + (selection.step[d] ?? 1) * (items - 1);
    const cycle = selection.cycle?.[d] ?? 0;
    const end = cycle === 0 ? length : (selection.start[d] ?? 0) + cycle;
    return items === target.shape[d] && cycle <= length && (items === 0 || last < end);
  });
  if (!isInside) throw notAPlan("the target is not what is selected of the source", `${pointer}/selection`);
}
