import { privateAccessOf } from "../../stores/remote/private-access.ts";
import { emitRetry } from "../../stores/remote/retry-requests.ts";
import { counterThread, leaveCounters, type ThreadCounters } from "../../stores/remote/server-counters.ts";
import type { ReadPart, StoreSpec } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { pause } from "../../util/pause.ts";
import { type FromWorker, type ReturnedBuffer, type ToWorker, unpackError } from "./messages.ts";
import type { PoolThread, Threads, WorkerSettings } from "./pool-thread.ts";
import type { SharedScheduler } from "./shared-scheduler.ts";
import { loadThreads } from "./thread.node.ts";

/** Time for workers to stop by themselves. Terminating a worker during its start may end the process. */
const GRACE_MS = 300;

/** A run that the workers of a pool carry out together with the thread that started them. */
export interface PoolRun<Work, Result> {
  readonly work: Work;
  /** Spec by which each worker opens the source. */
  readonly source: StoreSpec;
  readonly sourceVersion: string | undefined;
  readonly scheduler: SharedScheduler;
  /**
   * Receives each result, and gives buffers back when they are no longer needed. An error that it throws ends the run.
   */
  readonly onResult: (result: Result, giveBack: GiveBack) => void | Promise<void>;
  /** True while this thread waits for the workers; always by default. Meanwhile a watchdog checks their progress. */
  readonly isAwaited?: () => boolean;
}

export type GiveBack = (buffers: readonly ReturnedBuffer[]) => void;

/** A worker and its state. */
interface PoolWorker {
  readonly thread: PoolThread;
  /** Number from 1; 0 is the thread that started the pool. */
  readonly number: number;
  /** Resolves when the worker has finished; rejects with its failure. */
  readonly ended: Promise<void>;
  readonly counters: ThreadCounters | undefined;
  isDone: boolean;
}

/**
 * A pool of worker threads. They load their scripts as soon as they start, while the sources and targets are opened;
 * `run` then gives them their work. Each thread claims its part from the shared scheduler.
 *
 * @typeParam Work the work that all workers do
 * @typeParam Result the results that workers send, any number of times
 */
export class WorkerPool<Work, Result> {
  readonly #workers: PoolWorker[] = [];
  readonly #stallTimeout: number | undefined;
  #listener: Pick<PoolRun<Work, Result>, "onResult"> | undefined;
  #scheduler: SharedScheduler | undefined;
  #ownPeaks = 0;
  readonly #parts: ReadPart[] = [];
  #unwatch = () => {};

  /**
   * Starts workers for a run with the given number of threads, including this one. Starts none if their script is
   * missing or cannot be loaded.
   *
   * @throws the failure to start one, once those already started have ended.
   */
  static async start<Work, Result>(
    threads: number,
    settings: WorkerSettings = {},
  ): Promise<WorkerPool<Work, Result>> {
    const pool = new WorkerPool<Work, Result>(settings);
    if (threads === 1) return pool;
    const here = await loadThreads();
    if (!here.canStartThreads(settings)) return pool;
    try {
      for (let thread = 1; thread < threads; thread++) pool.#startWorker(here, settings);
      const isReady = await Promise.all(pool.#workers.map(({ thread }) => thread.ready)).then(
        () => true,
        () => false,
      );
      if (!isReady) await pool.end();
    } catch (error) {
      await pool.end();
      throw error;
    }
    return pool;
  }

  private constructor({ stallTimeout }: WorkerSettings) {
    this.#stallTimeout = stallTimeout;
  }

  /** Number of threads that work, including this one. */
  get threads(): number {
    return this.#workers.length + 1;
  }

  /**
   * Resolves when all workers have finished.
   *
   * @throws the first failure of any worker: its own; `resource-limit` if it ran out of memory; `transient` if it
   *   crashed, ended without a reason or hangs.
   */
  async run({ work, source, sourceVersion, scheduler, ...run }: PoolRun<Work, Result>): Promise<void> {
    this.#listener = run;
    this.#scheduler = scheduler;
    const { headers, query } = privateAccessOf(source);
    for (const { thread, number, counters } of this.#workers) {
      const shared = { ...scheduler.shared, thread: number };
      const start = { work, source, access: { headers, query }, sourceVersion, shared, counters };
      thread.post({ type: "start", start } satisfies ToWorker<Work>);
    }
    scheduler.tellBy(() => {
      for (const { thread, number } of this.#workers) {
        thread.post({ type: "ended", tasks: scheduler.endedBut(number) } satisfies ToWorker<Work>);
      }
    });
    const { isAwaited = () => true } = run;
    const hang = new Promise<never>((_, reject) => {
      const isBusy = () => this.#workers.some(({ isDone }) => !isDone);
      const progress = () => (isBusy() && isAwaited() ? scheduler.progress : undefined);
      this.#unwatch = watchThreads(progress, reject, this.#stallTimeout);
    });
    await Promise.race([Promise.all(this.#workers.map(({ ended }) => ended)), hang]);
  }

  /** Sets whether workers keep the process alive. They do by default. */
  keepProcess(keep: boolean): void {
    for (const { thread } of this.#workers) thread.keepProcess(keep);
  }

  /** Sum of the peaks of buffer bytes in workers that share no memory with this thread. */
  get ownPeaks(): number {
    return this.#ownPeaks;
  }

  /** Parts of values that finished workers read. Checking their checksums needs the parts of all threads. */
  get parts(): readonly ReadPart[] {
    return this.#parts;
  }

  /** Prevents further tasks from starting; with `atOnce`, also ends those in flight. */
  stop(atOnce = true): void {
    this.#scheduler?.stop();
    for (const { thread } of this.#workers) thread.post({ type: "stop", atOnce } satisfies ToWorker<Work>);
  }

  /** Ends all workers immediately; resolves when they are gone. */
  async end(): Promise<void> {
    this.#unwatch();
    const busy = this.#workers.filter(({ isDone }) => !isDone);
    if (busy.length > 0) this.stop();
    const workers = this.#workers.splice(0);
    if (busy.length > 0) {
      const ended = new AbortController();
      const grace = pause(GRACE_MS, ended.signal).catch(() => {});
      await Promise.race([Promise.allSettled(busy.map(({ ended }) => ended)), grace]);
      ended.abort();
    }
    const gone = workers.map(async ({ thread, isDone }) => {
      const end = thread.terminate();
      // A worker that has finished holds nothing that anybody waits for.
      if (!isDone) await end;
    });
    await Promise.all(gone);
  }

  #startWorker({ startThread, noteMissing }: Threads, settings: WorkerSettings): void {
    const giveBack: GiveBack = (buffers) => {
      const message: ToWorker<Work> = { type: "back", buffers };
      thread.post(message, [...new Set(buffers.map(({ buffer }) => buffer))]);
    };
    const take = async (result: Result) => this.#listener?.onResult(result, giveBack);
    const thread = startThread(settings);
    const number = this.#workers.length + 1;
    const ended = new Promise<void>((resolve, reject) => {
      const onMessage = (message: FromWorker<Result>) => {
        switch (message.type) {
          case "result":
            take(message.result).catch(reject);
            break;
          case "retry":
            emitRetry({ ...message.retry, error: unpackError(message.error) as ZarrflowError });
            break;
          case "missing":
            noteMissing(message.note);
            break;
          case "ended":
            this.#scheduler?.hear(number, message.tasks);
            break;
          case "parts":
            this.#parts.push(...message.parts);
            break;
          case "failed":
            reject(unpackError(message.error));
            break;
          case "done":
            this.#ownPeaks += message.ownPeak;
            worker.isDone = true;
            resolve();
        }
      };
      thread.listen({
        onMessage: (message) => {
          this.#scheduler?.beat();
          onMessage(message as FromWorker<Result>);
        },
        onFailure: (error) => reject(crashError(error)),
        onExit: () => {
          if (counters) leaveCounters(counters);
          reject(exitError());
        },
      });
    });
    // The promise may reject before anybody awaits it.
    ended.catch(() => {});
    const counters = counterThread();
    const worker: PoolWorker = { thread, number, ended, counters, isDone: false };
    this.#workers.push(worker);
  }
}

/** Error for a worker thread that threw. */
function crashError(error: Error): ZarrflowError {
  if (!("code" in error) || error.code !== "ERR_WORKER_OUT_OF_MEMORY") {
    const hint = "Run again with one thread (--threads 1). If that works, please report this.";
    return new ZarrflowError(
      "transient",
      `a worker thread failed: ${error.message}`,
      { hint },
      { cause: error },
    );
  }
  return new ZarrflowError(
    "resource-limit",
    "a worker thread ran out of memory",
    { hint: "Use fewer threads (--threads)." },
    { cause: error },
  );
}

/** Error for a worker thread that ended without a reason. */
function exitError(): ZarrflowError {
  return new ZarrflowError("transient", "a worker thread ended before its work was done", {
    hint: "Run again; if this recurs, use one thread (--threads 1).",
  });
}

/** Maximum time without progress of any thread. No task takes that long between two calls of its stores. */
const STALL_TIMEOUT_MS = 30 * 60_000;
/** Number of checks in that time. After the machine was asleep, one more check follows before the watch gives up. */
const LOOKS = 30;

/**
 * Watches threads for progress.
 *
 * @param progress a number that changes with any progress; undefined while nobody waits for the threads
 * @param onHang called once with an error after too long without progress
 * @returns a function that ends the watch
 */
export function watchThreads(
  progress: () => number | undefined,
  onHang: (error: ZarrflowError) => void,
  stallTimeout = STALL_TIMEOUT_MS,
): () => void {
  let last: number | undefined;
  let looks = 0;
  const timer = setInterval(() => {
    const now = progress();
    looks = now === undefined || now !== last ? 0 : looks + 1;
    last = now;
    if (looks < LOOKS) return;
    clearInterval(timer);
    onHang(
      new ZarrflowError("transient", "a worker thread hangs: it has made no progress for too long", {
        expected: `progress within ${Math.ceil(stallTimeout / 60_000)} minutes`,
        hint: "Run again with one thread (--threads 1).",
      }),
    );
  }, stallTimeout / LOOKS);
  // The timer need not keep the process alive: threads that somebody waits for do.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer);
}
