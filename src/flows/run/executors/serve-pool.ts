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

/** What a worker thread works with. */
export interface WorkerContext<Result> {
  readonly control: SharedScheduler;
  /** Aborted when the thread is to stop. */
  readonly stop: AbortController;
  /** The source, opened again. */
  readonly source: Store;
  /** Opens what this thread alone writes in. */
  openExclusive(spec: StoreSpec): Promise<Store>;
  send(result: Result, buffers?: readonly ArrayBuffer[]): void;
  /** Calls `take` with the buffers that come back. */
  onBack(take: (buffers: readonly ReturnedBuffer[]) => void): void;
}

/** Reports the folders in which values of the source are missing: who began the run looks at them when all is read. */
export type WatchMissing = (
  source: StoreSpec,
  onNote: (note: MissingNote) => void,
) => { end(): void } | undefined;

/**
 * The worker's side of a `WorkerPool`: waits until it is given what to work on, does that, and reports how it ended.
 *
 * @param work done when it is asked for; where that stops since the run has stopped, it failed for no reason of its own
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
  // It comes when what the run works on has been opened, while this thread was loading its scripts.
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
        // No message reaches a thread that blocks: each of its calls looks whether it is to stop.
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
    // Who made it stop reports why.
    if (error === STOPPED) post({ type: "done", ownPeak: control?.ownPeak ?? 0 });
    else post({ type: "failed", error: packError(error) });
  }
  port.close();
}
