import type { ZarrflowError } from "../../util/errors.ts";

/** A call that failed and will be made again. */
export interface Retry {
  /** The store in words. */
  readonly store: string;
  readonly operation: string;
  readonly key: string;
  readonly error: ZarrflowError;
  /** How often it was made. */
  readonly attempt: number;
  /** Milliseconds until it is made again. */
  readonly wait: number;
}

const watchers = new Set<(retry: Retry) => void>();

/** Reports every wait before a call is made again, in all stores of this thread. Returns what ends that. */
export function onRetry(watcher: (retry: Retry) => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Reports a wait to the watchers of this thread, here or in another thread. */
export function emitRetry(retry: Retry): void {
  for (const watcher of watchers) watcher(retry);
}
