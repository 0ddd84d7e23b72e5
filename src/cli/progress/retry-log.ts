import { formatDuration } from "../../flows/text/numbers.ts";
import { printable } from "../../flows/text/printable.ts";
import type { Retry } from "../../stores/remote/retry-events.ts";

/** Minimum milliseconds between two lines. */
const INTERVAL_MS = 1000;

/** Prints retried requests, at most one line per second. */
export class RetryLog {
  readonly #printLine: (line: string) => void;
  #count = 0;
  #printed = Number.NEGATIVE_INFINITY;

  constructor(printLine: (line: string) => void) {
    this.#printLine = printLine;
  }

  note(retry: Retry): void {
    this.#count++;
    const now = performance.now();
    if (now - this.#printed < INTERVAL_MS) return;
    this.#printed = now;
    this.#printLine(retryText(retry, this.#count));
  }
}

/** A line for a request that will be retried; `count` is the number of retries so far. */
export function retryText({ store, operation, key, error, attempt, wait }: Retry, count: number): string {
  const { reason, details } = error;
  const found = details.found === undefined ? "" : ` (${details.found})`;
  const what = [operation, key].filter(Boolean).join(" ");
  const times = attempt === 1 ? "" : `, attempt ${attempt}`;
  const doing = wait === 0 ? "asking again" : `waiting ${formatDuration(wait / 1000)}`;
  return printable(`${doing}: ${what} in ${store}: ${reason}${found}${times}; ${count} so far`);
}
