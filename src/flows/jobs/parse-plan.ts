import { gridShape } from "../../meta/array-metadata.ts";
import { MAX_RANK } from "../../meta/assert-json.ts";
import { expandTemplates, type JobTemplate, type NamedJob } from "../../plan/array-jobs.ts";
import { pathFilter } from "../../plan/key-filter.ts";
import type { Plan } from "../../plan/plan.ts";
import { targetPath } from "../../plan/request.ts";
import { assertCountable, boxGrid, lastStage, splitsOf } from "../../plan/task.ts";
import { isKey } from "../../stores/key.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { pointerTo } from "../../util/json-value.ts";
import { isUuid } from "../../util/names.ts";
import { isAtOrBelow } from "../../util/node-path.ts";
import { isObject } from "../../util/options.ts";
import { product } from "../../util/shape.ts";
import {
  checksumOf,
  isStoreSpec,
  PLAN_FILE_FORMAT,
  type PlanFile,
  type WrittenPlanFile,
} from "./plan-file.ts";

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
  for (const [i, template] of file.plan.kinds.entries())
    assertTemplate(template, file.plan, `/plan/kinds/${i}`);
  const { kinds: _, ...plan } = file.plan;
  const { jobs, stages } = expandTemplates(arraysOf(file.plan));
  assertStages(stages, plan);
  return { ...file, plan: { ...plan, jobs } };
}

/** @throws `plan-mismatch` for an array without a description. */
function arraysOf({ source, target, kinds, jobs }: WrittenPlan): NamedJob[] {
  return jobs.map(([path, number], i) => {
    const template = kinds[number];
    if (template === undefined) throw notAPlan("the array is not described", `/plan/jobs/${i}/1`, number);
    return { path, targetPath: targetPath(path, source.path, target.path), template };
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
    isOlder ? "this version cannot run plans of this format" : "this is not a plan",
    {
      expected: PLAN_FILE_FORMAT,
      found: typeof found === "string" ? found.slice(0, 40) : "no format",
      hint: "Make it with `zarrflow plan` of the same version. The output of --dry-run --json is not such a plan.",
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
      throw notAPlan("this is outside the source, or belongs to another array", `/plan/jobs/${i}/0`, path);
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
function assertTemplate(
  job: JobTemplate,
  { source, budget, publication }: WrittenPlan,
  pointer: string,
): void {
  if (job.target.zarrFormat !== publication.zarrFormat) {
    throw notAPlan("an array must have the format of its hierarchy", pointer);
  }
  assertRanks(job, pointer);
  const parts = [...(job.passes ?? []), job];
  for (const [stage, part] of parts.entries()) {
    const isLast = stage === lastStage(job);
    const all = isLast ? windowsOf(job) : product(boxGrid(splitsOf(job, stage)));
    const isNone = part.tasks === 0 && parts.length === 1;
    if (part.tasks !== all && !isNone) {
      throw notAPlan("the tasks do not match the windows of the array", `${pointer}/tasks`);
    }
    if (part.leaseBytes > budget.maxMemory)
      throw notAPlan("a task needs more than the memory budget", pointer);
  }
  if (job.tasks === 0) return;
  const chunks = Math.max(job.chunksRead, product(gridShape(job.target.shape, job.target.chunkShape)));
  assertCountable({ items: product(job.selection.shape), chunks }, source.path);
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

function windowsOf({ target, window }: JobTemplate): number {
  return product(gridShape(gridShape(target.shape, target.chunkShape), window));
}

/** Checks that all sizes have the array's rank, and that the selection is inside the source. */
function assertRanks(job: JobTemplate, pointer: string): void {
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
  if (!isInside)
    throw notAPlan("the target is not what the plan selects from the source", `${pointer}/selection`);
}

/** Checks the shape of a value from a file. @throws `plan-mismatch` with the JSON pointer of the first mismatch */
type Shape = (value: unknown, pointer: string) => void;

/** The error for a plan file that this version cannot have written. */
function notAPlan(reason: string, pointer: string, value?: unknown): ZarrflowError {
  return new ZarrflowError("plan-mismatch", reason, {
    pointer,
    ...(value !== undefined && { value: typeof value === "object" ? JSON.stringify(value) : String(value) }),
    hint: "Make a new plan with `zarrflow plan`; plans are not meant to be edited.",
  });
}

/** A value that passes a test. */
function value(expected: string, holds: (value: unknown) => boolean): Shape {
  return (found, pointer) => {
    if (!holds(found)) throw notAPlan(`this must be ${expected}`, pointer, found);
  };
}

const anything: Shape = () => {};
const flag = value("true or false", (found) => typeof found === "boolean");
const number = value("a number", (found) => Number.isFinite(found));
const text = value("a string", (found) => typeof found === "string");

function oneOf(...choices: readonly unknown[]): Shape {
  return value(`one of ${choices.join(", ")}`, (found) => choices.includes(found));
}

/** A whole number within bounds. */
function whole(least: number, most = Number.MAX_SAFE_INTEGER): Shape {
  return value(
    `a whole number from ${least} to ${most}`,
    (found) => Number.isSafeInteger(found) && Number(found) >= least && Number(found) <= most,
  );
}

function list(item: Shape, most = Number.POSITIVE_INFINITY): Shape {
  return (found, pointer) => {
    if (!Array.isArray(found) || found.length > most) throw notAPlan("this must be a list", pointer, found);
    for (const [i, one] of found.entries()) item(one, pointerTo(pointer, i));
  };
}

function optional(shape: Shape): Shape {
  return (found, pointer) => {
    if (found !== undefined) shape(found, pointer);
  };
}

function record(members: Readonly<Record<string, Shape>>): Shape {
  return (found, pointer) => {
    if (!isObject(found) || Array.isArray(found)) throw notAPlan("this must be an object", pointer, found);
    for (const [name, shape] of Object.entries(members)) {
      shape(Object.hasOwn(found, name) ? found[name] : undefined, pointerTo(pointer, name));
    }
  };
}

/** Limits of one process on tasks or requests at once, and on threads. No planner exceeds them. */
const MAX_AT_ONCE = 65_536;
const MAX_THREADS = 1024;

const count = whole(0);
const size = whole(1);
const sizes = list(size, MAX_RANK);
const counts = list(count, MAX_RANK);
const key = value("a key inside its store", (found) => typeof found === "string" && isKey(found));
const path = value(
  "the path of a node inside its store",
  (found) => found === "" || (typeof found === "string" && isKey(found)),
);
const store = value("the spec of a store, with an absolute path or without credentials", (found) =>
  isStoreSpec(found),
);
const format = oneOf("v1", "v2", "v3-draft-2019", "v3-draft-2020", "v3");
const globs = optional(
  value("a glob, or a list of globs", (found) =>
    [found].flat().every((glob) => typeof glob === "string" && glob.length <= 1000),
  ),
);

const node = record({
  store,
  path,
  reading: optional(
    record({
      v1Order: optional(oneOf("as-written", "as-stated")),
      v2: optional(record({ separator: optional(oneOf(".", "/")) })),
      maxMetadata: optional(size),
    }),
  ),
});

const gridSide = record({
  zarrFormat: format,
  chunkKeyEncoding: record({ name: oneOf("default", "plain"), separator: oneOf(".", "/") }),
  shape: counts,
  chunkShape: sizes,
  shardShape: optional(sizes),
  codecs: list(record({ name: text, configuration: record({}), costClass: text })),
  decodesParts: optional(flag),
  decodedSize: count,
  maxEncodedSize: count,
  scratchSize: count,
  pooledScratchSize: count,
});

const tasks = {
  readAhead: whole(1, MAX_AT_ONCE),
  tasks: count,
  leaseBytes: count,
  expectedBytes: count,
};

const kind = record({
  dataType: text,
  dimensionNames: optional(
    list(value("a name or null", (found) => found === null || typeof found === "string")),
  ),
  conversion: optional(
    record({
      dataType: text,
      fillValue: value("Base64 or null", (found) => found === null || typeof found === "string"),
      unpack: optional(flag),
      replaceMissing: optional(flag),
      map: optional(record({ module: text, hash: text })),
      pack: optional(record({ scale: number, offset: number })),
      overflow: optional(oneOf("clamp")),
    }),
  ),
  strategy: oneOf("verbatim", "transcode", "direct", "staged"),
  source: gridSide,
  target: gridSide,
  selection: record({
    start: counts,
    step: sizes,
    shape: counts,
    cycle: optional(counts),
    shift: optional(record({ dimension: count, runs: list(record({ from: count, add: number })) })),
  }),
  window: sizes,
  step: optional(sizes),
  shardBuffer: optional(count),
  passes: optional(list(record({ box: sizes, ...tasks }), 64)),
  ...tasks,
  chunksRead: count,
  chunksWritten: count,
  missingChunks: optional(count),
  notTaken: list(record({ strategy: text, reason: text })),
});

const job: Shape = (found, pointer) => {
  list(anything, 2)(found, pointer);
  const [name, number] = found as readonly unknown[];
  path(name, `${pointer}/0`);
  count(number, `${pointer}/1`);
};

const document: Shape = (found, pointer) => {
  const isText = typeof found === "object" && found !== null && "text" in found;
  record({ key, ...(isText ? { text } : { from: key }) })(found, pointer);
};

const plan = record({
  format: oneOf("zarrflow-plan/1"),
  operation: oneOf("copy", "convert", "rechunk", "slice"),
  source: node,
  target: node,
  scratch: optional(store),
  budget: record({ maxMemory: size, leaseBytes: count }),
  execution: record({
    driver: oneOf("streams", "loop"),
    threads: whole(1, MAX_THREADS),
    singleThreadReason: optional(text),
    tasksAtOnce: whole(1, MAX_AT_ONCE),
    concurrency: whole(1, MAX_AT_ONCE),
    isAdaptive: optional(flag),
    writer: oneOf("each-thread", "first-thread"),
  }),
  kinds: list(kind),
  jobs: list(job),
  stages: list(count, MAX_RANK),
  publication: record({
    zarrFormat: format,
    from: format,
    documents: list(document),
    consolidate: list(path),
    copyKeys: flag,
    filter: optional(record({ include: globs, exclude: globs })),
    leftOut: optional(list(path)),
    existing: value("absent", (found) => found === undefined),
  }),
  totals: record(
    Object.fromEntries(
      [
        "arrays",
        "tasks",
        "chunksRead",
        "chunksWritten",
        "missingChunks",
        "scratchBytes",
        "predictedPeak",
      ].map((name) => [name, value("a number", (found) => typeof found === "number" && found >= 0)]),
    ),
  ),
  warnings: list(record({ message: text, path: optional(text), hint: optional(text) })),
  chunksKept: anything,
});

/** The shape of a valid plan file. */
const planFileShape = record({
  format: oneOf(PLAN_FILE_FORMAT),
  id: value("a UUID", (found) => typeof found === "string" && isUuid(found)),
  encoders: record({ zarrflow: text, zlib: text }),
  options: record({ ifExists: oneOf("error", "replace"), writeEmptyChunks: flag, fsync: flag }),
  sourceDocuments: list((found, pointer) => {
    list(anything, 3)(found, pointer);
    const [name, length, crc32] = found as readonly unknown[];
    key(name, `${pointer}/0`);
    count(length, `${pointer}/1`);
    whole(0, 2 ** 32 - 1)(crc32, `${pointer}/2`);
  }),
  plan,
});
