import type { FlowEvent, Progress, RunReport } from "../../flows/events.ts";
import type { Plan } from "../../flows/plan/plan.ts";

/** A moment of a run. */
export interface Sample extends Omit<Progress, "totals" | "arraysDone" | "bytesDone" | "arrays"> {
  /** Since the run began. */
  readonly seconds: number;
  /** Bytes that the process had in memory. */
  readonly processBytes: number;
}

/** What there is to report of a plan. */
export interface PlanRecord {
  readonly command: string;
  readonly version: string;
  readonly started: Date;
  readonly plan: Plan;
}

/** What there is to report of a run that is done. */
export interface RunRecord extends PlanRecord {
  readonly report: RunReport;
  readonly samples: readonly Sample[];
  /** Milliseconds that tasks took. */
  readonly taskTimes: readonly number[];
  /** The most bytes that the process had in memory. */
  readonly peakMemory: number;
}

/** More samples or tasks than this are thinned out. */
const MAX_KEPT = 1200;

/** Notes the events of a run, a bounded number of them. */
export class RunRecorder {
  readonly started = new Date();
  readonly #begin = performance.now();
  #samples: Sample[] = [];
  #taskTimes: number[] = [];
  /** Of tasks, each how-manieth is kept. */
  #every = 1;
  #tasks = 0;
  /** Requests that were made again. */
  retries = 0;

  note(event: FlowEvent): void {
    if (event.type === "progress") {
      const seconds = (performance.now() - this.#begin) / 1000;
      const { totals, arraysDone, bytesDone, arrays, ...counts } = event.progress;
      this.#samples.push({ ...counts, seconds, processBytes: process.memoryUsage.rss() });
      if (this.#samples.length > MAX_KEPT) this.#samples = highestOfPairs(this.#samples);
    }
    if (event.type === "retry") this.retries++;
    if (event.type === "task-end") {
      if (this.#tasks++ % this.#every === 0) this.#taskTimes.push(event.ms);
      if (this.#taskTimes.length <= MAX_KEPT) return;
      this.#taskTimes = this.#taskTimes.filter((_, i) => i % 2 === 0);
      this.#every *= 2;
    }
  }

  /** The record of a plan that is not run. */
  planned(planned: Omit<PlanRecord, "started">): PlanRecord {
    return { ...planned, started: this.started };
  }

  /** The record of the run, when it is done. */
  record(done: Pick<RunRecord, "command" | "version" | "plan" | "report" | "peakMemory">): RunRecord {
    return { ...done, started: this.started, samples: this.#samples, taskTimes: this.#taskTimes };
  }
}

/** Half of the samples, none of the peaks lost. */
function highestOfPairs(samples: readonly Sample[]): Sample[] {
  const kept: Sample[] = [];
  for (let i = 0; i < samples.length; i += 2) {
    const [a, b] = [samples[i], samples[i + 1]];
    if (a) kept.push(b && b.expectedBytes >= a.expectedBytes ? b : a);
  }
  return kept;
}
