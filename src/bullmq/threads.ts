import { Worker } from "node:worker_threads";
import type { Encoders, PlanFile } from "../flows/jobs/plan-file.ts";
import type { RunCounts, RunReport } from "../run/events.ts";
import { unpackError } from "../run/threads/messages.ts";
import { onAbort } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { FromThread, ToThread, Work } from "./job-data.ts";

/** The script of the threads, next to the bundle that contains this module. */
const SCRIPT = new URL("./thread.js", import.meta.url);

interface WorkOptions {
  readonly id: PlanFile["id"];
  readonly plan: string;
  readonly encoders: Encoders;
  readonly trustMap: boolean;
  /** When aborted, completes the tasks in flight and stops. */
  readonly stop: AbortSignal;
  readonly signal: AbortSignal;
  readonly onProgress: (counts: RunCounts) => void;
}

/** A thread that does the work of jobs, one at a time. */
class WorkThread {
  readonly #worker = new Worker(SCRIPT);
  #id = "";
  #settle: ((message: FromThread) => void) | undefined;

  constructor(onExit: () => void) {
    const fail = (error: unknown) => this.#settle?.({ type: "failed", error: { error } });
    this.#worker.on("message", (message: FromThread) => this.#settle?.(message));
    this.#worker.on("error", (cause) => {
      const isMemory = (cause as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
      const reason = isMemory ? "the thread of the job ran out of memory" : "the thread of the job crashed";
      fail(new ZarrflowError("transient", reason, { found: cause.message }, { cause }));
    });
    this.#worker.on("exit", () => {
      fail(new ZarrflowError("transient", "the thread of the job ended before the job was done"));
      onExit();
    });
  }

  run(
    work: Work,
    { id, plan, encoders, trustMap, stop, signal, onProgress }: WorkOptions,
  ): Promise<RunReport> {
    const send = (message: ToThread) => this.#worker.postMessage(message);
    const listening = [
      onAbort(stop, () => send({ type: "stop" })),
      onAbort(signal, () => send({ type: "abort" })),
    ];
    const done = new Promise<RunReport>((resolve, reject) => {
      this.#settle = (message) => {
        if (message.type === "progress") onProgress(message.counts);
        else if (message.type === "done") resolve(message.report);
        else {
          this.#id = "";
          reject(unpackError(message.error));
        }
      };
    });
    send({ type: "work", plan: this.#id === id ? undefined : plan, encoders, trustMap, work });
    this.#id = id;
    if (stop.aborted) send({ type: "stop" });
    if (signal.aborted) send({ type: "abort" });
    return done.finally(() => {
      this.#settle = undefined;
      for (const end of listening) end();
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** A pool with a thread for each concurrent job. A thread is reused for the next job, and keeps its plan. */
export class WorkThreads {
  readonly #all = new Set<WorkThread>();
  readonly #idle: WorkThread[] = [];

  async run(work: Work, options: WorkOptions): Promise<RunReport> {
    const thread = this.#idle.pop() ?? this.#start();
    try {
      return await thread.run(work, options);
    } finally {
      if (this.#all.has(thread)) this.#idle.push(thread);
    }
  }

  async end(): Promise<void> {
    await Promise.all([...this.#all].map((thread) => thread.end()));
  }

  #start(): WorkThread {
    const thread = new WorkThread(() => {
      this.#all.delete(thread);
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    this.#all.add(thread);
    return thread;
  }
}
