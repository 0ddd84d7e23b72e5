import { Worker } from "node:worker_threads";
import type { Job } from "bullmq";
import { assertEncoders, otherEncoder } from "../flows/jobs/open-plan.ts";
import { parsePlan } from "../flows/jobs/parse-plan.ts";
import { type Encoders, encodersHere, type PlanFile } from "../flows/jobs/plan-file.ts";
import { sumOf } from "../flows/jobs/run-share.ts";
import { NOTHING_DONE } from "../flows/run-flow.ts";
import { formatNamed } from "../meta/formats.ts";
import type { RunCounts, RunReport } from "../run/events.ts";
import { unpackError } from "../run/threads/messages.ts";
import { openStore } from "../stores/url.ts";
import { followSignals, onAbort } from "../util/abort.ts";
import { type ErrorCode, isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { assertKnown, assertRules, type OptionNames } from "../util/options.ts";
import { Connection, QUEUE_OPTIONS, type QueueOptions } from "./connection.ts";
import {
  type FromThread,
  RUN,
  type RunData,
  reasonOf,
  type ShareData,
  shareJobs,
  type ToThread,
  type Work,
} from "./job-data.ts";
import { deadShares } from "./runs.ts";

/** An event of a job that a worker runs. */
export interface WorkerEvent {
  /**
   * `retry`: it failed, and is tried again later, perhaps by another worker. `dead`: it has failed for good.
   * `returned`: this worker stops, and the job goes back to the queue. `lost`: the queue took this worker for dead, and
   * gave the job to another.
   */
  readonly type: "start" | "done" | "retry" | "dead" | "returned" | "lost";
  /** The id of the run. */
  readonly run: string;
  /** Counted from 1; absent for the job that starts the stages and ends the run. */
  readonly stage?: number;
  readonly index?: number;
  readonly count?: number;
  readonly report?: RunReport;
  readonly reason?: string;
}

export interface WorkerOptions extends QueueOptions {
  /** Number of jobs at a time, each in its own thread, with the memory and the threads of its plan; 1 by default. */
  readonly concurrency?: number | undefined;
  /** Lets plans run the modules that they name to compute values: everyone who adds to the queue must be trusted. */
  readonly trustMap?: boolean | undefined;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
}

const WORKER_OPTIONS: OptionNames<WorkerOptions> = {
  ...QUEUE_OPTIONS,
  concurrency: true,
  trustMap: true,
  onEvent: true,
};

/** A job whose worker is gone goes to another worker after 10 to 15 seconds. */
const LOCKS = { lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 5 };
/** Milliseconds that tasks in flight have to complete when a worker is stopped. */
const GRACE_MS = 8000;
const PROGRESS_MS = 2000;

/** Failures of the machine or its environment: every job would fail on this worker, but another one may run it. */
const OF_THIS_WORKER: readonly ErrorCode[] = ["access-denied", "no-space", "too-many-files"];
/** Failures that may pass. All others are caused by the plan, the source or the target, and would occur again. */
const PASSING: readonly ErrorCode[] = [
  ...OF_THIS_WORKER,
  "transient",
  "short-read",
  "tasks-undone",
  "locked",
  "resource-limit",
];

/**
 * Runs jobs of a queue until the signal is aborted. Tasks in flight then have 8 seconds to complete; the rest of their
 * jobs goes back to the queue. Stores are opened with the credentials in this process's environment.
 *
 * @throws `access-denied`, `no-space`, `too-many-files`, or `plan-mismatch` for a plan of another version of zarrflow,
 *   when a job shows that this machine cannot run it: the job goes back to the queue, and this worker ends. `transient`
 *   when the server of the queue is gone; `unsupported-operation` without the package `bullmq`.
 */
export async function worker(options: WorkerOptions): Promise<void> {
  assertKnown(options, WORKER_OPTIONS);
  const { concurrency = 1, trustMap = false, signal, onEvent } = options;
  assertRules(
    { concurrency },
    {
      concurrency: {
        expected: "a whole number, 1 or more",
        holds: (one) => Number.isSafeInteger(one) && Number(one) > 0,
      },
    },
  );
  const connection = await Connection.open({ ...options, signal: undefined });
  const jobs = new Jobs(connection, { onEvent, trustMap });
  const { Worker } = connection.bullmq;
  const queueWorker = connection.watched(
    new Worker(
      connection.name,
      (job, token, lost) => jobs.do(job, token ?? "", lost),
      ...connection.args({ ...LOCKS, concurrency, autorun: false }),
    ),
  );
  queueWorker.on("lockRenewalFailed", (ids) => {
    for (const id of ids) queueWorker.cancelJob(id);
  });
  const ended = new Promise<void>((resolve, reject) => {
    if (signal?.aborted) resolve();
    onAbort(signal, resolve);
    onAbort(connection.signal, () => reject(connection.signal.reason));
    onAbort(jobs.failed, () => reject(jobs.failed.reason));
  });
  const running = queueWorker.run();
  running.catch(() => {});
  try {
    await ended;
  } finally {
    // from now on no new job is taken; running jobs are completed, or go back to the queue
    queueWorker.close(connection.isGone || !connection.hasAnswered).catch(() => {});
    await jobs.stop();
    await connection.end(queueWorker);
    await connection.close();
  }
}

/** Runs the jobs that a worker takes from the queue. */
class Jobs {
  readonly #connection: Connection;
  readonly #onEvent: WorkerOptions["onEvent"];
  readonly #trustMap: boolean;
  readonly #threads = new WorkThreads();
  readonly #encoders = encodersHere();
  readonly #stop = new AbortController();
  readonly #abort = new AbortController();
  readonly #failed = new AbortController();
  readonly #doing = new Set<Promise<unknown>>();
  /** The run of the last job. */
  #run: { readonly id: string; readonly data: RunData } | undefined;

  constructor(
    connection: Connection,
    { onEvent, trustMap = false }: Pick<WorkerOptions, "onEvent" | "trustMap">,
  ) {
    this.#connection = connection;
    this.#trustMap = trustMap;
    this.#onEvent = onEvent;
  }

  /** Aborted with the failure that ends this worker. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  do(job: Job, token: string, lost: AbortSignal | undefined): Promise<RunReport> {
    const doing = this.#do(job, token, lost);
    const settled = doing.catch(() => {}).finally(() => this.#doing.delete(settled));
    this.#doing.add(settled);
    return doing;
  }

  /** Ends the running jobs, and the threads. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const timer = setTimeout(() => this.#abort.abort(), GRACE_MS);
    await Promise.all(this.#doing);
    clearTimeout(timer);
    await this.#threads.end();
  }

  async #do(job: Job, token: string, lost: AbortSignal | undefined): Promise<RunReport> {
    const isRun = job.name === RUN;
    const { run, stage, index, count } = job.data as ShareData;
    const which = isRun ? { run: job.id ?? "" } : { run, stage: stage + 1, index, count };
    const tell = (type: WorkerEvent["type"], more: Pick<WorkerEvent, "report" | "reason"> = {}) =>
      this.#onEvent?.({ type, ...which, ...more });
    tell("start");
    try {
      const { id, data } = await this.#runOf(job, which.run);
      assertEncoders(data, this.#encoders);
      const perform = (work: Work) => this.#perform(work, job, { id, data }, lost);
      const report = isRun
        ? await endRun(job as Job<RunData>, token, { connection: this.#connection, perform })
        : await perform({ share: { stage, index, count } });
      tell("done", { report });
      return report;
    } catch (error) {
      const { UnrecoverableError, WaitingChildrenError, WaitingError } = this.#connection.bullmq;
      if (error instanceof WaitingChildrenError || error instanceof UnrecoverableError) throw error;
      if (this.#stop.signal.aborted && !lost?.aborted && !this.#connection.isGone) {
        await this.#connection.answer(job.moveToWait(token));
        tell("returned");
        throw new WaitingError();
      }
      if (lost?.aborted) {
        // another worker has the job
        tell("lost");
        throw error;
      }
      const reason = reasonOf(error);
      const code = isZarrflowError(error) ? error.code : "transient";
      const isOtherVersion = code === "plan-mismatch" && this.#isOtherVersion();
      const isMine = OF_THIS_WORKER.includes(code) || isOtherVersion;
      if (isMine) this.#failed.abort(error);
      const mayPass = isMine || PASSING.includes(code);
      const isLast = !mayPass || job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
      tell(isLast ? "dead" : "retry", { reason });
      throw mayPass ? new Error(reason, { cause: error }) : new UnrecoverableError(reason);
    }
  }

  /** True if the plan of the last job was made with other encoders. */
  #isOtherVersion(): boolean {
    const planned = this.#run?.data.encoders;
    return planned !== undefined && otherEncoder(planned, this.#encoders) !== undefined;
  }

  async #runOf(job: Job, id: string): Promise<{ readonly id: string; readonly data: RunData }> {
    if (this.#run?.id === id) return this.#run;
    const found = job.name === RUN ? job : await this.#connection.answer(this.#connection.queue.getJob(id));
    if (found === undefined) {
      throw new ZarrflowError("not-found", "the run of this job is no longer in the queue", { found: id });
    }
    this.#run = { id, data: found.data as RunData };
    return this.#run;
  }

  async #perform(
    work: Work,
    job: Job,
    { id, data }: { readonly id: string; readonly data: RunData },
    lost: AbortSignal | undefined,
  ): Promise<RunReport> {
    let last = 0;
    const onProgress = (counts: RunCounts) => {
      const now = performance.now();
      if (!("share" in work) || now - last < PROGRESS_MS) return;
      last = now;
      job.updateProgress(counts).catch(() => {});
    };
    const aborting = followSignals(lost, this.#abort.signal);
    try {
      const { encoders: _, plan } = data;
      const signals = { stop: this.#stop.signal, signal: aborting.signal };
      return await this.#threads.run(work, {
        ...{ id, plan, encoders: this.#encoders, trustMap: this.#trustMap },
        ...signals,
        onProgress,
      });
    } finally {
      aborting.end();
    }
  }
}

interface EndOptions {
  readonly connection: Connection;
  readonly perform: (work: Work) => Promise<RunReport>;
}

/**
 * Runs the parent job, which BullMQ starts each time that all shares of a stage have ended. It adds the next stage and
 * waits again, or publishes the target. Its progress is the stage that it added last; the number of stages means that
 * it publishes.
 *
 * @throws `WaitingChildrenError` while shares are running; `UnrecoverableError` if some are dead.
 */
export async function endRun(
  job: Job<RunData>,
  token: string,
  { connection, perform }: EndOptions,
): Promise<RunReport> {
  const { bullmq, queue } = connection;
  const { data, id = "" } = job;
  const stages = data.jobs.length;
  for (let added = Number(job.progress) || 0; ; ) {
    if (await job.moveToWaitingChildren(token)) throw new bullmq.WaitingChildrenError();
    const dead = await deadShares(queue, id);
    if (dead[0]) {
      const { stage } = dead[0].data as ShareData;
      const words = `${dead.length} of ${data.jobs[stage]} jobs of stage ${stage + 1} failed for good. The first: ${dead[0].failedReason}`;
      throw new bullmq.UnrecoverableError(`tasks-undone: ${words}`);
    }
    if (added + 1 >= stages) break;
    added++;
    const parent = { id, queue: job.queueQualifiedName };
    await queue.addBulk(
      shareJobs(id, added, data).map((share) => ({ ...share, opts: { ...share.opts, parent } })),
    );
    await job.updateProgress(added);
  }
  const wasPublishing = Number(job.progress) === stages;
  await job.updateProgress(stages);
  const report = await publish(data, wasPublishing, perform);
  const shares = Object.values(await job.getChildrenValues<RunReport>());
  return shares.reduce(sumOf, { ...report, tasksResumed: 0 });
}

/** Publishes the target. A worker that was lost before it could report may have published it already. */
async function publish(
  { plan, verify }: RunData,
  wasPublishing: boolean,
  perform: EndOptions["perform"],
): Promise<RunReport> {
  try {
    return await perform({ verify });
  } catch (error) {
    const isGone = isZarrflowError(error, "not-found") || isZarrflowError(error, "target-exists");
    if (wasPublishing && isGone && (await isPublished(plan))) return NOTHING_DONE;
    throw error;
  }
}

async function isPublished(text: string): Promise<boolean> {
  const { target, publication } = parsePlan(text).plan;
  const store = await openStore(target.store);
  try {
    const { documentKeys } = formatNamed(publication.zarrFormat).layout(target.path);
    const sizes = await Promise.all(documentKeys.map((key) => store.size(key)));
    return sizes.some((size) => size !== undefined);
  } finally {
    await store.close?.();
  }
}

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
