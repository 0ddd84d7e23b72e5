import type { FlowEvent, Progress, RunCounts, RunReport } from "../../flows/events.ts";
import type { Plan } from "../../flows/plan/plan.ts";
import type { TakenItems } from "../../flows/request/labels/found-labels.ts";

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
  /** What a slice takes of each dimension that it names. */
  readonly taken?: readonly TakenItems[];
}

/** What there is to report of a run that has ended. */
export interface RunRecord extends PlanRecord {
  /** What it did, until it failed. */
  readonly report: RunReport;
  /** Why it failed, and how it is resumed, in lines; absent: it is done. */
  readonly failure?: string;
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
  #keys = 0;
  #bytes = 0;
  #counts: RunCounts = { tasks: 0, chunksRead: 0, chunksWritten: 0, bytesRead: 0, bytesWritten: 0 };
  /** Requests that were made again. */
  retries = 0;

  note(event: FlowEvent): void {
    if (event.type === "progress") {
      const seconds = (performance.now() - this.#begin) / 1000;
      const { totals, arraysDone, bytesDone, arrays, ...counts } = event.progress;
      this.#counts = counts;
      this.#samples.push({ ...counts, seconds, processBytes: process.memoryUsage.rss() });
      if (this.#samples.length > MAX_KEPT) this.#samples = highestOfPairs(this.#samples);
    }
    if (event.type === "written") {
      this.#keys++;
      this.#bytes += event.size;
    }
    if (event.type === "retry") this.retries++;
    if (event.type === "task-end") {
      if (this.#tasks++ % this.#every === 0) this.#taskTimes.push(event.ms);
      if (this.#taskTimes.length <= MAX_KEPT) return;
      this.#taskTimes = this.#taskTimes.filter((_, i) => i % 2 === 0);
      this.#every *= 2;
    }
  }

  /** What a run has done that fails now. */
  get report(): RunReport {
    return {
      ...this.#counts,
      tasks: this.#tasks,
      bytesWritten: this.#bytes,
      seconds: (performance.now() - this.#begin) / 1000,
      keysWritten: this.#keys,
      peakBuffers: this.#samples.reduce((peak, { expectedBytes }) => Math.max(peak, expectedBytes), 0),
    };
  }

  /** The record of a plan that is not run. */
  planned(planned: Omit<PlanRecord, "started">): PlanRecord {
    return { ...planned, started: this.started };
  }

  /** The record of the run, when it has ended. */
  record(
    done: Pick<RunRecord, "command" | "version" | "plan" | "taken" | "report" | "peakMemory" | "failure">,
  ): RunRecord {
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
