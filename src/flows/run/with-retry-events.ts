import { watchRetries } from "../../stores/remote/retry-events.ts";
import type { EventOptions } from "../events.ts";

/** Runs a step, and tells meanwhile of requests that are made again. */
export async function tellingRetries<T>({ onEvent }: EventOptions, step: () => Promise<T>): Promise<T> {
  const unwatch = watchRetries((retry) => onEvent?.({ type: "retry", retry }));
  try {
    return await step();
  } finally {
    unwatch();
  }
}
