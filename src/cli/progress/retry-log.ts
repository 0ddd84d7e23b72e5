import type { Retry } from "../../stores/remote/retry-events.ts";
import { retryText } from "../text/retry.ts";

/** Milliseconds between two lines at least. */
const INTERVAL_MS = 1000;

/** Tells of requests that are made again, now and then. */
export class RetryLog {
  readonly #tell: (line: string) => void;
  #count = 0;
  #told = Number.NEGATIVE_INFINITY;

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  note(retry: Retry): void {
    this.#count++;
    const now = performance.now();
    if (now - this.#told < INTERVAL_MS) return;
    this.#told = now;
    this.#tell(retryText(retry, this.#count));
  }
}
