import type { Retry } from "../../stores/remote/retry-events.ts";
import { formatDuration } from "./duration.ts";
import { printable } from "./printable.ts";

/** A line for a request that will be made again; `count` of them were so far. */
export function retryText({ store, operation, key, error, attempt, wait }: Retry, count: number): string {
  const { reason, details } = error;
  const found = details.found === undefined ? "" : ` (${details.found})`;
  const what = [operation, key].filter(Boolean).join(" ");
  const times = attempt === 1 ? "" : `, attempt ${attempt}`;
  return printable(
    `waiting ${formatDuration(wait / 1000)}: ${what} in ${store}: ${reason}${found}${times}; ${count} so far`,
  );
}
