import { EventQueue } from "./event-queue.ts";
import type { SimulatedStage } from "./simulation.ts";

/** What a worker has to do in a stage, where nothing holds it up. */
export interface WorkerLoad {
  readonly seconds: number;
  /** Of these, what keeps a core busy, for all its threads together. */
  readonly coreSeconds: number;
  readonly gets: number;
  readonly puts: number;
  /** What its longest task takes, and how many it has at work. */
  readonly taskSeconds: number;
  readonly tasksAtOnce: number;
}

export interface VirtualStageOptions {
  readonly prefixes: number;
  readonly stragglers: number;
  readonly failuresPerHour: number;
  /** What all workers share. */
  readonly cores: number;
  /** Seconds from the start of a process to its first task: of one core, and of waits. */
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

/** What S3 takes in a second for each partition, and so for each prefix at least. */
const GETS_PER_SECOND = 5500;
const PUTS_PER_SECOND = 3500;
/** Of requests to a prefix that is at its limit, so many are rejected while programs find a rate that is taken. */
const REJECTED = 0.05;
const STRAGGLING = 3;
const RESTART_SECONDS = 60;

interface Worker {
  /** Cores that it keeps busy, and requests in a second of its own. */
  readonly cores: number;
  readonly gets: number;
  readonly puts: number;
  /** What is left to do, in seconds of its own. */
  left: number;
  /** What it does until its next event. */
  step: number;
  ended: number;
}

/**
 * A stage in virtual time. Workers have a clock of their own, which is slower than time where all of them together ask for more than
 * the cores or the prefixes give; events are the end of a worker, its loss, and its next start.
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
    // what was at work is done again, half done on average
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
