import type { TakenItems } from "../../flows/request/labels/found-labels.ts";
import type { Plan } from "../../plan/plan.ts";
import type { FlowEvent, Progress, RunCounts, RunReport } from "../../run/events.ts";

/** The state of a run at one moment. */
export interface Sample extends Omit<Progress, "totals" | "arraysDone" | "bytesDone" | "arrays"> {
  /** Seconds since the run began. */
  readonly seconds: number;
  /** Bytes of the process's memory. */
  readonly processBytes: number;
}

/** The content of a report about a plan. */
export interface PlanRecord {
  readonly command: string;
  readonly version: string;
  readonly started: Date;
  readonly plan: Plan;
  /** The items that a slice takes along each dimension that it names. */
  readonly taken?: readonly TakenItems[];
}

/** The content of a report about a run that has ended. */
export interface RunRecord extends PlanRecord {
  /** The work that was done; up to the failure, if it failed. */
  readonly report: RunReport;
  /** Why it failed and how to resume it, in lines; absent if it completed. */
  readonly failure?: string;
  readonly samples: readonly Sample[];
  /** Milliseconds of tasks. */
  readonly taskTimes: readonly number[];
  /** Peak of the process's memory, in bytes. */
  readonly peakMemory: number;
}

/** Number of samples, and of task times, above which they are thinned out. */
const MAX_KEPT = 1200;

/** Records the events of a run in bounded memory. */
export class RunRecorder {
  readonly started = new Date();
  readonly #begin = performance.now();
  #samples: Sample[] = [];
  #taskTimes: number[] = [];
  /** Interval of the tasks whose times are kept. */
  #every = 1;
  #tasks = 0;
  #keys = 0;
  #bytes = 0;
  #counts: RunCounts = { tasks: 0, chunksRead: 0, chunksWritten: 0, bytesRead: 0, bytesWritten: 0 };
  /** Number of retried requests. */
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

  /** The report of a run that fails at this moment. */
  get report(): RunReport {
    return {
      ...this.#counts,
      tasks: this.#tasks,
      bytesWritten: this.#bytes,
      seconds: (performance.now() - this.#begin) / 1000,
      keysWritten: this.#keys,
      peakBuffers: this.#samples.reduce((peak, { bufferedBytes }) => Math.max(peak, bufferedBytes), 0),
    };
  }

  /** The record of a plan that is not run. */
  planned(planned: Omit<PlanRecord, "started">): PlanRecord {
    return { ...planned, started: this.started };
  }

  /** The record of a run that has ended. */
  record(
    done: Pick<RunRecord, "command" | "version" | "plan" | "taken" | "report" | "peakMemory" | "failure">,
  ): RunRecord {
    return { ...done, started: this.started, samples: this.#samples, taskTimes: this.#taskTimes };
  }
}

/** Keeps the sample of each pair with more bytes in buffers, so that no peak is lost. */
function highestOfPairs(samples: readonly Sample[]): Sample[] {
  const kept: Sample[] = [];
  for (let i = 0; i < samples.length; i += 2) {
    const [a, b] = [samples[i], samples[i + 1]];
    if (a) kept.push(b && b.bufferedBytes >= a.bufferedBytes ? b : a);
  }
  return kept;
}
