import { onRetry } from "../../stores/remote/retry-events.ts";
import type { EventOptions } from "../events.ts";

/** Runs a step, and tells meanwhile of requests that are made again. */
export async function withRetryEvents<T>({ onEvent }: EventOptions, step: () => Promise<T>): Promise<T> {
  const unwatch = onRetry((retry) => onEvent?.({ type: "retry", retry }));
  try {
    return await step();
  } finally {
    unwatch();
  }
}
