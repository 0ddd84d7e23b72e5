import { admitted, COSTS, type CostRequest, loadsOf, overlapped, type StageLoad } from "../../plan/costs.ts";
import type { ArrayJob, Plan } from "../../plan/plan.ts";
import { lastStage } from "../../plan/task.ts";
import { countSourceChunks } from "../../plan/windows.ts";
import { assertKnown, invalidOption, isObject } from "../../util/options.ts";
import { product } from "../../util/shape.ts";
import { allShares } from "./run-share.ts";
import {
  PRICES,
  type Prices,
  runStage,
  SIMULATION_OPTIONS,
  type Simulation,
  type SimulationOptions,
  type WorkerLoad,
} from "./simulation.ts";

/** Maximum number of simulated workers. */
const MAX_WORKERS = 100_000;
/** Core seconds of a process besides its tasks: to start, to open the plan, and to compile its code. */
const START_SECONDS = 0.35;
/** Requests of a share besides those of its tasks: source documents, lock, other shares' ledgers, its own records. */
const GETS_OF_SHARE = 6;
const PUTS_OF_SHARE = 4;
/** Seconds between two writes of a ledger to a bucket. */
const LEDGER_SECONDS = 5;
const LISTED = 1000;
const MONTH = 30 * 24 * 3600;

/**
 * Runs the schedule of a plan in virtual time, with stores over a network: the shares of `zarrflow run`, stage by
 * stage, then `zarrflow finish`. The tasks of a share are summed up, so the simulation takes the same time for any
 * number of chunks. The same options give the same result.
 *
 * @throws `invalid-option`
 */
export function simulatePlan(plan: Plan, options: SimulationOptions): Simulation {
  if (!isObject(plan) || !Array.isArray(plan.stages))
    throw invalidOption("this is not a plan", "a plan", plan);
  assertKnown(options, SIMULATION_OPTIONS);
  const { workers, latency, bytesPerSecond } = options;
  const { prefixes = 1, stragglers = 0.01, failuresPerHour = 0.01, seed = 1 } = options;
  const { cores = workers * plan.execution.threads } = options;
  if (!Number.isSafeInteger(workers) || workers < 1 || workers > MAX_WORKERS) {
    throw invalidOption("invalid number of workers", `1 to ${MAX_WORKERS}`, workers);
  }
  const figures = { latency, bytesPerSecond, cores, prefixes, stragglers, failuresPerHour };
  for (const [name, value] of Object.entries(figures)) {
    if (
      !(value >= 0 && Number.isFinite(value)) ||
      (value === 0 && name in { bytesPerSecond, cores, prefixes })
    ) {
      throw invalidOption(`invalid value for the option \`${name}\``, "a number of 0 or more", value);
    }
  }
  const [startWork, startWaits] = [START_SECONDS, GETS_OF_SHARE * latency];
  const random = randomNumbers(seed);
  const stageCount = Math.max(1, plan.stages.length);
  const stages = Array.from({ length: stageCount }, (_, stage) => {
    const loads = workerLoads(plan, stage, options);
    return {
      tasks: plan.stages[stage] ?? 0,
      ...runStage(loads, { cores, prefixes, stragglers, failuresPerHour, startWork, startWaits, random }),
    };
  });
  const sum = (of: (stage: (typeof stages)[number]) => number) =>
    stages.reduce((all, stage) => all + of(stage), 0);
  const { documents } = plan.publication;
  const lists = Math.ceil(plan.totals.chunksWritten / LISTED);
  const finishSeconds =
    startWork +
    startWaits +
    lists * latency +
    Math.ceil(documents.length / plan.execution.concurrency) * latency +
    documents.length * COSTS.request;
  const workerSeconds = sum(({ workerSeconds }) => workerSeconds);
  const requests = {
    gets: Math.round(sum(({ gets }) => gets)) + stageCount * workers * GETS_OF_SHARE,
    puts:
      Math.round(sum(({ puts }) => puts) + workerSeconds / LEDGER_SECONDS) +
      stageCount * workers * PUTS_OF_SHARE +
      documents.length,
    lists: lists + stageCount * workers,
    rejected: Math.round(sum(({ rejected }) => rejected)),
  };
  const seconds = sum((stage) => stage.seconds) + finishSeconds;
  const { scratchBytes } = plan.totals;
  return {
    workers,
    seconds,
    finishSeconds,
    stages: stages.map(({ tasks, seconds, meanSeconds, longestSeconds, throttledSeconds }) => ({
      tasks,
      seconds,
      meanSeconds,
      longestSeconds,
      throttledSeconds,
    })),
    skew: Math.max(...stages.map((stage) => stage.longestSeconds / Math.max(1e-9, stage.meanSeconds))),
    workerSeconds,
    requests,
    failures: sum((stage) => stage.failures),
    tasksRepeated: Math.round(sum((stage) => stage.tasksRepeated)),
    scratchBytes,
    cost: costIn({ ...PRICES, ...options.prices }, { requests, workerSeconds, scratchBytes, seconds }),
  };
}

function costIn(
  prices: Prices,
  {
    requests,
    workerSeconds,
    scratchBytes,
    seconds,
  }: Pick<Simulation, "requests" | "workerSeconds" | "scratchBytes" | "seconds">,
): Simulation["cost"] {
  const asked =
    (requests.gets / 1000) * prices.gets + ((requests.puts + requests.lists) / 1000) * prices.puts;
  const computed = (workerSeconds / 3600) * prices.workerHour;
  const scratch = (scratchBytes / 1e9) * prices.gigabyteMonth * (seconds / MONTH);
  return { requests: asked, workers: computed, scratch, total: asked + computed + scratch };
}

/** The work of each worker in a stage: its share, as `zarrflow run` would assign it. */
function workerLoads(plan: Plan, stage: number, options: SimulationOptions): WorkerLoad[] {
  const kinds = plan.jobs.flatMap((job) => loadOfTask(plan, job, stage, options) ?? []);
  const dealt = kinds.filter(({ first }) => first === undefined);
  const inTasks = kinds.filter(({ first }) => first !== undefined);
  let at = 0;
  return allShares(plan, stage, options.workers).map(({ first, end }) => {
    const { tasksAtOnce } = plan.execution;
    const load = { seconds: 0, coreSeconds: 0, gets: 0, puts: 0, taskSeconds: 0, tasksAtOnce };
    const add = (kind: TaskLoad, tasks: number) => {
      load.seconds += tasks * kind.seconds;
      load.coreSeconds += tasks * kind.coreSeconds;
      load.gets += tasks * kind.gets;
      load.puts += tasks * kind.puts;
      load.taskSeconds = Math.max(load.taskSeconds, kind.seconds);
    };
    for (const kind of dealt) add(kind, kind.tasks / options.workers);
    for (let i = at; i < inTasks.length; i++) {
      const kind = inTasks[i];
      if (kind?.first === undefined || kind.first >= end) break;
      const tasks = Math.min(end, kind.first + kind.tasks) - Math.max(first, kind.first);
      if (tasks > 0) add(kind, tasks);
      if (kind.first + kind.tasks <= end) at = i + 1;
    }
    return load;
  });
}

interface TaskLoad {
  /** Absent for keys that are copied without tasks. */
  readonly first?: number;
  readonly tasks: number;
  /** Seconds of one task, given the requests in flight and the threads. */
  readonly seconds: number;
  readonly coreSeconds: number;
  readonly gets: number;
  readonly puts: number;
}

function loadOfTask(
  plan: Plan,
  job: ArrayJob,
  stage: number,
  options: SimulationOptions,
): TaskLoad | undefined {
  const isCopied = job.tasks === 0 && job.passes === undefined;
  const part = job.passes?.[stage] ?? (lastStage(job) === stage ? job : undefined);
  if (part === undefined) return undefined;
  const load = isCopied || job.cost === undefined ? copying(job) : loadsOf(requestOf(plan, job))[stage];
  const tasks = isCopied ? job.chunksRead : part.tasks;
  if (load === undefined || tasks === 0) return undefined;
  const { execution, budget } = plan;
  const atOnce = admitted({ ...budget, tasksAtOnce: execution.tasksAtOnce }, part);
  const inFlight = Math.max(
    1,
    isCopied ? execution.concurrency : Math.min(execution.concurrency, atOnce * part.readAhead),
  );
  const { latency, bytesPerSecond } = options;
  const work = load.work / Math.min(execution.threads, atOnce);
  const waits =
    ((load.gets + load.puts) * latency) / inFlight + (load.bytesRead + load.bytesWritten) / bytesPerSecond;
  return {
    ...(!isCopied && { first: part.firstTask }),
    tasks,
    seconds: overlapped(work, waits) / tasks,
    coreSeconds: load.work / tasks,
    gets: load.gets / tasks,
    puts: load.puts / tasks,
  };
}

/** The load of copying stored bytes. Their size is not known in advance, so the decoded size is assumed. */
function copying({ chunksRead, chunksWritten, source }: ArrayJob): StageLoad {
  const bytes = chunksRead * source.decodedSize;
  const calls = (chunksRead + chunksWritten) * (COSTS.chunk + COSTS.request);
  return {
    work: calls + bytes * (COSTS.read + COSTS.written),
    gets: chunksRead,
    puts: chunksWritten,
    bytesRead: bytes,
    bytesWritten: bytes,
  };
}

/** The planner's request for the cost of the job. */
function requestOf({ budget, execution, profiles = {} }: Plan, job: ArrayJob): CostRequest {
  const objects = (job.passes ?? []).reduce((sum, { tasks }) => sum + tasks, 0);
  return {
    sides: job,
    items: product(job.selection.shape),
    chunksTouched: countSourceChunks(job),
    chunksWritten: job.chunksWritten,
    windows: job,
    ...(job.passes && { passes: job.passes }),
    pieces: Math.max(0, (job.cost?.requests ?? 0) - job.chunksRead - objects - job.chunksWritten),
    tasks: job.tasks,
    maxMemory: budget.maxMemory,
    ...execution,
    profiles,
  };
}

/** Pseudorandom numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixing = Math.imul(state ^ (state >>> 15), state | 1);
    mixing ^= mixing + Math.imul(mixing ^ (mixing >>> 7), mixing | 61);
    return ((mixing ^ (mixing >>> 14)) >>> 0) / 2 ** 32;
  };
}
