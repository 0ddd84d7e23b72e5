import { accessedBy } from "../../../stores/access.ts";
import type { MissingNote } from "../../../stores/directory/missing-values.ts";
import { onRetry } from "../../../stores/remote/retry-events.ts";
import { joinCounters } from "../../../stores/remote/server-counters.ts";
import type { Store, StoreSpec } from "../../../stores/store.ts";
import { withBlockingCalls } from "../../../stores/with/blocking-calls.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import {
  type FromWorker,
  packError,
  type ReturnedBuffer,
  type ToWorker,
  type WorkerStart,
} from "./messages.ts";
import { openSame } from "./open-same.ts";
import { poolPort } from "./pool-port.ts";
import { SharedScheduler } from "./shared-scheduler.ts";

const STOPPED = new ZarrflowError("aborted", "the run has stopped");

/** Everything that a worker thread uses to do its work. */
export interface WorkerContext<Result> {
  readonly control: SharedScheduler;
  /** Aborted to stop the thread. */
  readonly stop: AbortController;
  /** The source, opened by this thread. */
  readonly source: Store;
  /** Opens a store in which only this thread writes. */
  openExclusive(spec: StoreSpec): Promise<Store>;
  send(result: Result, buffers?: readonly ArrayBuffer[]): void;
  /** Calls `take` with the buffers that are sent back. */
  onBack(take: (buffers: readonly ReturnedBuffer[]) => void): void;
}

/**
 * Reports folders in which values of the source are missing. The thread that started the run checks them after reading.
 */
export type WatchMissing = (
  source: StoreSpec,
  onNote: (note: MissingNote) => void,
) => { end(): void } | undefined;

/**
 * Runs the worker's side of a `WorkerPool`: waits for work, does it and reports how it ended.
 *
 * @param work does the work; after the run has stopped, its failure is not reported as the worker's own
 */
export async function servePool<Work, Result>(
  work: (what: Work, context: WorkerContext<Result>) => Promise<void>,
  watchMissing?: WatchMissing,
): Promise<void> {
  const port = poolPort();
  const stop = new AbortController();
  const post = (message: FromWorker<Result>, buffers: readonly ArrayBuffer[] = []) =>
    port.post(message, buffers);
  let take: (buffers: readonly ReturnedBuffer[]) => void = () => {};
  let control: SharedScheduler | undefined;
  // The message arrives once the sources and targets are open; this thread loads its scripts in the meantime.
  const start = await new Promise<WorkerStart<Work> | undefined>((resolve) => {
    port.listen((received) => {
      const message = received as ToWorker<Work>;
      if (message.type === "start") resolve(message.start);
      else if (message.type === "back") take(message.buffers);
      else if (message.type === "ended") control?.hear(0, message.tasks);
      else {
        control?.stop();
        if (message.atOnce) stop.abort(STOPPED);
        resolve(undefined);
      }
    });
  });
  try {
    if (start) {
      if (start.counters) joinCounters(start.counters);
      onRetry(({ error, ...retry }) => post({ type: "retry", retry, error: packError(error) }));
      const shared = SharedScheduler.of(start.control);
      control = shared;
      shared.tellBy(() => post({ type: "ended", tasks: shared.endedBut(0) }));
      const open = async (spec: StoreSpec, version: string | undefined, exclusive: boolean) => {
        const store = await openSame(spec, version, { exclusive });
        // A blocking thread receives no messages, so each call checks whether the thread must stop.
        return withBlockingCalls(store, () => {
          shared.beat();
          return shared.isStopped ? Promise.reject(STOPPED) : undefined;
        });
      };
      const accessed = accessedBy(start.source, start.access);
      const missing = watchMissing?.(accessed, (note) => post({ type: "missing", note }));
      const source = await open(accessed, start.sourceVersion, false);
      await work(start.work, {
        control: shared,
        stop,
        source,
        openExclusive: (spec) => open(spec, undefined, true),
        send: (result, buffers) => post({ type: "result", result }, buffers),
        onBack: (taker) => {
          take = taker;
        },
      });
      missing?.end();
      const parts = source.checks?.takeParts() ?? [];
      if (parts.length > 0) post({ type: "parts", parts });
    }
    post({ type: "done", ownPeak: control?.ownPeak ?? 0 });
  } catch (error) {
    // The thread that stopped the run reports the reason.
    if (error === STOPPED) post({ type: "done", ownPeak: control?.ownPeak ?? 0 });
    else post({ type: "failed", error: packError(error) });
  }
  port.close();
}
