import { isZarrflowError, ZarrflowError } from "./errors.ts";

/**
 * Returns the error that an abort causes: `aborted` with the reason as its cause, or the reason itself if it is a
 * `ZarrflowError`.
 */
export function abortError(reason: unknown): ZarrflowError {
  if (isZarrflowError(reason)) return reason;
  return new ZarrflowError("aborted", "the signal was aborted", {}, { cause: reason });
}

/** @throws `aborted` if the signal is aborted. */
export function throwIfAborted(signal: Abortable | null | undefined): void {
  if (signal?.aborted) throw abortError(signal.reason);
}

/** A signal that `onAbort` can listen to. */
export type Abortable = AbortSignal | RequestEnd;

/**
 * A lightweight `AbortController` with its signal for one request. It costs a tenth of the platform's pair, and
 * creates a platform signal only on demand.
 */
export class RequestEnd {
  aborted = false;
  reason: unknown;
  readonly #calls = new Set<() => void>();
  #signal: AbortSignal | undefined;

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const call of this.#calls) call();
  }

  /** Calls `call` on abort, unless the returned function is called first. */
  listen(call: () => void): () => void {
    this.#calls.add(call);
    return () => void this.#calls.delete(call);
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal;
    const controller = new AbortController();
    if (this.aborted) controller.abort(this.reason);
    else this.listen(() => controller.abort(this.reason));
    this.#signal = controller.signal;
    return this.#signal;
  }
}

/** Converts to a platform signal, for APIs that accept nothing else. */
export function platformSignal(signal: Abortable | null | undefined): AbortSignal | undefined {
  return (signal instanceof RequestEnd ? signal.signal : signal) ?? undefined;
}

interface Listener {
  readonly calls: Set<() => void>;
  readonly stop: () => void;
}

const listeners = new WeakMap<AbortSignal, Listener>();

/**
 * Calls `call` when the signal is aborted, unless the returned function is called first. All callers share one
 * listener per signal, because runtimes warn about a leak when a signal has many.
 */
export function onAbort(signal: Abortable | null | undefined, call: () => void): () => void {
  if (!signal) return () => {};
  if (signal instanceof RequestEnd) return signal.listen(call);
  const { calls, stop } = listeners.get(signal) ?? listenTo(signal);
  const own = () => call();
  calls.add(own);
  return () => {
    if (calls.delete(own) && calls.size === 0) stop();
  };
}

function listenTo(signal: AbortSignal): Listener {
  const calls = new Set<() => void>();
  const callAll = () => {
    for (const call of calls) call();
  };
  const stop = () => {
    signal.removeEventListener("abort", callAll);
    listeners.delete(signal);
  };
  signal.addEventListener("abort", callAll, { once: true });
  const listener = { calls, stop };
  listeners.set(signal, listener);
  return listener;
}

const derived = new WeakMap<AbortSignal, AbortSignal>();

/**
 * Returns a signal that is aborted with the given one, with a `ZarrflowError` as its reason. Web streams and `fetch`
 * then throw that error too. Each signal has only one such copy, so thousands of calls add a single listener.
 */
export function signalOfOurs(signal: AbortSignal): AbortSignal {
  const known = derived.get(signal);
  if (known) return known;
  const controller = new AbortController();
  const ours = controller.signal;
  derived.set(signal, ours).set(ours, ours);
  const abort = () => controller.abort(abortError(signal.reason));
  if (signal.aborted) abort();
  else onAbort(signal, abort);
  return ours;
}

/** A signal that follows other signals. */
export interface FollowingSignal {
  readonly signal: AbortSignal;
  /** Stops following, so that long-lived signals no longer refer to this one. */
  end(): void;
}

/**
 * Creates a signal that is aborted with the first of the others, and with its reason, until `end` is called. Web
 * streams each add their own listener, so giving each one its own signal avoids the runtime's leak warning.
 */
export function followSignals(...others: readonly (AbortSignal | null | undefined)[]): FollowingSignal {
  const controller = new AbortController();
  const stops = others.map((other) => {
    const follow = () => controller.abort(other?.reason);
    if (other?.aborted) follow();
    return onAbort(other, follow);
  });
  return {
    signal: controller.signal,
    end: () => {
      for (const stop of stops) stop();
    },
  };
}

/**
 * Settles like `work`, or rejects with `aborted` if the signal is aborted first; the work itself continues
 * unobserved.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return work;
  let stopListening = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => reject(abortError(signal.reason));
    stopListening = onAbort(signal, stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stopListening();
  }
}

/** Yields `items` until the signal is aborted, then throws `aborted`; a pending step continues unobserved. */
export async function* untilAborted<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal | null | undefined,
): AsyncGenerator<T, void, undefined> {
  if (!signal) return yield* items;
  const iterator = items[Symbol.asyncIterator]();
  const end = async () => void (await iterator.return?.());
  try {
    for (;;) {
      const { done, value } = await unlessAborted(iterator.next(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    if (signal.aborted) end().catch(() => {});
    else await end();
  }
}
