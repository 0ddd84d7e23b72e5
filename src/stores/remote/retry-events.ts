import type { ZarrflowError } from "../../util/errors.ts";

/** A call that failed and will be retried. */
export interface Retry {
  /** Description of the store. */
  readonly store: string;
  readonly operation: string;
  readonly key: string;
  readonly error: ZarrflowError;
  /** Number of attempts so far. */
  readonly attempt: number;
  /** Milliseconds until the next attempt. */
  readonly wait: number;
}

const watchers = new Set<(retry: Retry) => void>();

/** Reports every pause before a retry, in all stores of this thread. Returns a function that ends this. */
export function onRetry(watcher: (retry: Retry) => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Reports a pause, in this or another thread, to the watchers of this thread. */
export function emitRetry(retry: Retry): void {
  for (const watcher of watchers) watcher(retry);
}
