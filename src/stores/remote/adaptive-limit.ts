import { abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { counterChange } from "../../util/pause.ts";
import { type ChangeOfOthers, ServerShare, type StartedRequest } from "./server-counters.ts";

export interface LimitedCall {
  /** Bytes that the call sends. */
  readonly sent?: number | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Limits concurrent calls to a server to the number that proves useful, across all threads that share counters.
 * Other calls wait for their turn in order.
 */
export class AdaptiveLimit {
  readonly #share: ServerShare;
  readonly #isOverload: (error: unknown) => boolean;
  readonly #waiting = new Set<(started: StartedRequest) => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isListening = false;
  #answeredSince: number | undefined;
  /** True if the server has answered, even if only with failures. */
  hasAnswered = false;

  /** @param isOverload true for the error of a call that says that there are too many calls */
  constructor(isOverload: (error: unknown) => boolean, share = ServerShare.alone()) {
    this.#share = share;
    this.#isOverload = isOverload;
  }

  /** Time of the server's first success; undefined before it. */
  get answeredSince(): number | undefined {
    return this.#answeredSince;
  }

  /** Makes a call when its turn comes. @throws the errors of the call; `aborted`, also while waiting. */
  async run<T>(call: () => Promise<T>, { sent = 0, signal }: LimitedCall = {}): Promise<T> {
    const started = await this.#turn(signal);
    const from = performance.now();
    try {
      const result = await call();
      this.#answeredSince ??= performance.now();
      const received = result instanceof Uint8Array ? result.length : 0;
      this.#share.succeeded(started, performance.now() - from, sent + received);
      return result;
    } catch (error) {
      if (this.#isOverload(error)) this.#share.overloaded(performance.now() - from);
      throw error;
    } finally {
      this.#share.ended();
      this.#startWaiting();
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<StartedRequest> {
    throwIfAborted(signal);
    const started = this.#waiting.size === 0 ? this.#share.tryStart() : undefined;
    if (started) return started;
    return new Promise((resolve, reject) => {
      const start = (request: StartedRequest) => {
        stopListening();
        resolve(request);
      };
      const stopListening = onAbort(signal, () => {
        this.#waiting.delete(start);
        if (this.#waiting.size === 0) this.#share.setWaiting(false);
        reject(abortError(signal?.reason));
      });
      this.#waiting.add(start);
      this.#startWaiting();
    });
  }

  /** Starts waiting calls, as many as are allowed. */
  #startWaiting(): void {
    if (this.#waiting.size === 0) return;
    // before the first try, so that no call that ends in another thread is missed
    const others = this.#share.setWaiting(true);
    for (const start of this.#waiting) {
      const request = this.#share.tryStart();
      if (request === undefined) break;
      this.#waiting.delete(start);
      start(request);
    }
    if (this.#waiting.size === 0) this.#share.setWaiting(false);
    else {
      this.#startLater(this.#share.wait);
      if (others) this.#startAfter(others);
    }
  }

  #startLater(wait: number): void {
    if (wait === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#startWaiting();
    }, wait);
  }

  #startAfter({ counters, place, seen }: ChangeOfOthers): void {
    if (this.#isListening) return;
    this.#isListening = true;
    void counterChange(counters, place, seen, false).then(() => {
      this.#isListening = false;
      this.#startWaiting();
    });
  }
}

const limits = new Map<string, WeakRef<AdaptiveLimit>>();

/**
 * Returns the limit of a server, which any name may identify. All its stores in this thread share it, and other threads
 * share its counters. A call made inside another call under the same limit may never start.
 */
export function limitOf(server: string, isOverload: (error: unknown) => boolean): AdaptiveLimit {
  const known = limits.get(server)?.deref();
  if (known) return known;
  const limit = new AdaptiveLimit(isOverload, ServerShare.of(server));
  limits.set(server, new WeakRef(limit));
  return limit;
}
