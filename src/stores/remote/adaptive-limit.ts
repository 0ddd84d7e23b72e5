import { abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { counterChange } from "../../util/counter-change.ts";
import { type ChangeOfOthers, ServerShare, type StartedRequest } from "./server-counters.ts";

export interface LimitedCall {
  /** Bytes that are sent. */
  readonly sent?: number | undefined;
  /** Gives up the wait. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * As many calls to a server at once as are found to be of use, of all threads that count together; the others wait for
 * their turn, first come, first served.
 */
export class AdaptiveLimit {
  readonly #share: ServerShare;
  readonly #isOverload: (error: unknown) => boolean;
  readonly #waiting = new Set<(started: StartedRequest) => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isListening = false;
  #answeredSince: number | undefined;
  /** Whether the server has answered, be it with failures alone. */
  hasAnswered = false;

  /** @param isOverload whether a failed call says that there are too many of them */
  constructor(isOverload: (error: unknown) => boolean, share = ServerShare.alone()) {
    this.#share = share;
    this.#isOverload = isOverload;
  }

  /** When the server first did what it was asked; undefined where it has not yet. */
  get answeredSince(): number | undefined {
    return this.#answeredSince;
  }

  /** Makes a call when its turn comes. @throws what it throws; `aborted`, also while it waits. */
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

  /** Starts as many of those that wait as may be. */
  #startWaiting(): void {
    if (this.#waiting.size === 0) return;
    // before the first is tried: what another thread ends from now on is heard of
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
 * The limit of a server, by any name: the same one for all its stores in this thread, and shared with other threads. A call
 * within a call of the same limit may wait for ever.
 */
export function limitOf(server: string, isOverload: (error: unknown) => boolean): AdaptiveLimit {
  const known = limits.get(server)?.deref();
  if (known) return known;
  const limit = new AdaptiveLimit(isOverload, ServerShare.of(server));
  limits.set(server, new WeakRef(limit));
  return limit;
}
