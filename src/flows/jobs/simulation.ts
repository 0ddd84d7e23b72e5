import type { OptionNames } from "../../util/options.ts";

/** Assumptions of a simulation. */
export interface SimulationOptions {
  /** Processes that run shares at the same time, in each stage. */
  readonly workers: number;
  /** Seconds from a request to its answer. */
  readonly latency: number;
  /** Bytes per second that a worker reads and writes. */
  readonly bytesPerSecond: number;
  /** Processor cores that all workers share. @default as many as their threads keep busy */
  readonly cores?: number | undefined;
  /**
   * Partitions of the bucket, for each of source, target and scratch: each accepts 5,500 GET and 3,500 PUT a second.
   * @default 1
   */
  readonly prefixes?: number | undefined;
  /** The fraction of workers that take three times as long. @default 0.01 */
  readonly stragglers?: number | undefined;
  /** How often per hour a worker is lost. It starts again a minute later. @default 0.01 */
  readonly failuresPerHour?: number | undefined;
  /** Determines which workers are slow, and when workers are lost. @default 1 */
  readonly seed?: number | undefined;
  readonly prices?: Partial<Prices> | undefined;
}

export const SIMULATION_OPTIONS: OptionNames<SimulationOptions> = {
  workers: true,
  latency: true,
  bytesPerSecond: true,
  cores: true,
  prefixes: true,
  stragglers: true,
  failuresPerHour: true,
  seed: true,
  prices: true,
};

/** Prices in US dollars. */
export interface Prices {
  /** Per 1,000 requests that read. */
  readonly gets: number;
  /** Per 1,000 requests that write or list. */
  readonly puts: number;
  readonly gigabyteMonth: number;
  /** Per hour of a worker. */
  readonly workerHour: number;
}

/**
 * S3 Standard in us-east-1 (first 50 TB), from public price tables of March 2026, and an assumed 0.05 for a worker with
 * one core. Look up your own.
 */
export const PRICES: Prices = { gets: 0.0004, puts: 0.005, gigabyteMonth: 0.023, workerHour: 0.05 };

/** A simulated stage. */
export interface SimulatedStage {
  readonly tasks: number;
  readonly seconds: number;
  /** Seconds of the average worker, and of the last one. */
  readonly meanSeconds: number;
  readonly longestSeconds: number;
  /** Seconds in which requests exceeded the rate that the prefixes accept. */
  readonly throttledSeconds: number;
}

/** The simulated run of a plan on a number of workers. */
export interface Simulation {
  readonly workers: number;
  /** Seconds from the first start to the published target. */
  readonly seconds: number;
  /** Seconds of these that `zarrflow finish` takes. */
  readonly finishSeconds: number;
  readonly stages: readonly SimulatedStage[];
  /** Time of the last worker divided by that of the average one, in the worst stage. */
  readonly skew: number;
  /** Seconds of all workers together. */
  readonly workerSeconds: number;
  readonly requests: {
    readonly gets: number;
    readonly puts: number;
    readonly lists: number;
    /** Requests that were answered with 503, and retried. */
    readonly rejected: number;
  };
  /** Number of lost workers, and of tasks that were repeated because of that. */
  readonly failures: number;
  readonly tasksRepeated: number;
  readonly scratchBytes: number;
  /** Cost in US dollars. */
  readonly cost: {
    readonly requests: number;
    readonly workers: number;
    readonly scratch: number;
    readonly total: number;
  };
}

/** The work of a worker in a stage, if nothing slows it down. */
export interface WorkerLoad {
  readonly seconds: number;
  /** Core seconds of all its threads together. */
  readonly coreSeconds: number;
  readonly gets: number;
  readonly puts: number;
  /** Seconds of its longest task, and the number of tasks that it runs at once. */
  readonly taskSeconds: number;
  readonly tasksAtOnce: number;
}

export interface VirtualStageOptions {
  readonly prefixes: number;
  readonly stragglers: number;
  readonly failuresPerHour: number;
  /** Cores that all workers share. */
  readonly cores: number;
  /** Seconds from the start of a process to its first task: work of one core, and waiting. */
  readonly startWork: number;
  readonly startWaits: number;
  readonly random: () => number;
}

export interface StageRun extends Omit<SimulatedStage, "tasks"> {
  readonly workerSeconds: number;
  readonly gets: number;
  readonly puts: number;
  readonly rejected: number;
  readonly failures: number;
  readonly tasksRepeated: number;
}

/** Requests per second that S3 accepts for each partition, and so at least for each prefix. */
const GETS_PER_SECOND = 5500;
const PUTS_PER_SECOND = 3500;
/** Fraction of requests to a saturated prefix that are rejected while clients look for an accepted rate. */
const REJECTED = 0.05;
const STRAGGLING = 3;
const RESTART_SECONDS = 60;

interface Worker {
  /** Cores that it keeps busy, and requests per second of its own clock. */
  readonly cores: number;
  readonly gets: number;
  readonly puts: number;
  /** Remaining work, in seconds of its own clock. */
  left: number;
  /** Work until its next event. */
  step: number;
  ended: number;
}

/**
 * Simulates a stage in virtual time. The workers' own clock runs slower than time while all of them together ask for
 * more than the cores or the prefixes provide. Events are the end of a worker, its loss, and its next start.
 */
export function runStage(loads: readonly WorkerLoad[], options: VirtualStageOptions): StageRun {
  const { prefixes, stragglers, failuresPerHour, cores, startWork, startWaits, random } = options;
  const starts = new EventQueue();
  const steps = new EventQueue();
  const count = { gets: 0, puts: 0, rejected: 0, failures: 0, tasksRepeated: 0, throttledSeconds: 0 };
  const workers = loads.map(({ seconds, coreSeconds, gets, puts }, i): Worker => {
    const alone = seconds > 0 ? startWork + seconds : 0;
    const left = alone * (random() < stragglers ? STRAGGLING : 1);
    count.gets += gets;
    count.puts += puts;
    if (left > 0) starts.add(startWaits, i);
    const per = Math.max(1e-9, left);
    return {
      cores: (startWork + coreSeconds) / per,
      gets: gets / per,
      puts: puts / per,
      left,
      step: 0,
      ended: 0,
    };
  });
  let [now, own, busyCores, gets, puts] = [0, 0, 0, 0, 0];
  for (;;) {
    const computing = Math.min(1, cores / busyCores);
    const demand =
      computing * Math.max(gets / (GETS_PER_SECOND * prefixes), puts / (PUTS_PER_SECOND * prefixes));
    const speed = demand > 1 ? (computing * (1 - REJECTED)) / demand : computing;
    const next = Math.min(starts.next, now + (steps.next - own) / speed);
    if (next === Number.POSITIVE_INFINITY) break;
    const isStart = starts.next <= next;
    const passed = Math.max(0, next - now);
    if (demand > 1) {
      count.throttledSeconds += passed;
      count.rejected += REJECTED * (gets + puts) * speed * passed;
    }
    own = isStart ? own + passed * speed : steps.next;
    now = next;
    const i = (isStart ? starts : steps).take() ?? 0;
    const worker = workers[i];
    const load = loads[i];
    if (worker === undefined || load === undefined) break;
    const sign = isStart ? 1 : -1;
    busyCores = Math.max(0, busyCores + sign * worker.cores);
    gets = Math.max(0, gets + sign * worker.gets);
    puts = Math.max(0, puts + sign * worker.puts);
    if (isStart) {
      const lost =
        failuresPerHour === 0 ? Number.POSITIVE_INFINITY : (-Math.log(1 - random()) * 3600) / failuresPerHour;
      worker.step = Math.min(worker.left, lost);
      steps.add(own + worker.step, i);
      continue;
    }
    worker.left -= worker.step;
    worker.ended = now;
    if (worker.left <= 1e-9) continue;
    // the tasks in progress are repeated; on average they were half done
    count.failures++;
    count.tasksRepeated += load.tasksAtOnce;
    worker.left += startWork + Math.min(worker.step, load.taskSeconds * load.tasksAtOnce * 0.5);
    starts.add(now + RESTART_SECONDS + startWaits, i);
  }
  const busy = workers.filter(({ ended }) => ended > 0);
  const workerSeconds = busy.reduce((sum, { ended }) => sum + ended, 0);
  const longestSeconds = busy.reduce((most, { ended }) => Math.max(most, ended), 0);
  const meanSeconds = workerSeconds / Math.max(1, busy.length);
  return { ...count, workerSeconds, seconds: longestSeconds, meanSeconds, longestSeconds };
}

/** A priority queue of events, the earliest first. */
export class EventQueue {
  readonly #events: { readonly at: number; readonly worker: number }[] = [];

  /** Time of the next event; infinity if there is none. */
  get next(): number {
    return this.#events[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  add(at: number, worker: number): void {
    const events = this.#events;
    let place = events.length;
    const event = { at, worker };
    events.push(event);
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = events[above];
      if (other === undefined || other.at <= at) break;
      events[place] = other;
      place = above;
    }
    events[place] = event;
  }

  /** Removes the next event. @returns its worker; undefined if there is no event */
  take(): number | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (last === undefined || events.length === 0) return first?.worker;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if ((events[below + 1]?.at ?? Number.POSITIVE_INFINITY) < (events[below]?.at ?? 0)) below++;
      const other = events[below];
      if (other === undefined || other.at >= last.at) break;
      events[place] = other;
      place = below;
    }
    events[place] = last;
    return first?.worker;
  }
}
