import { isZarrflowError, ZarrflowError } from "./errors.ts";

/** What an abort fails with: `aborted`, whose cause is the reason; a failure of ours that ends other work is itself. */
export function abortError(reason: unknown): ZarrflowError {
  if (isZarrflowError(reason)) return reason;
  return new ZarrflowError("aborted", "the signal was aborted", {}, { cause: reason });
}

/** @throws `aborted` once the signal is. */
export function throwIfAborted(signal: Abortable | null | undefined): void {
  if (signal?.aborted) throw abortError(signal.reason);
}

/** What `onAbort` listens to. */
export type Abortable = AbortSignal | RequestEnd;

/** As an `AbortController` and its signal, of one request: a tenth of what these take, where nobody needs a signal. */
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

  /** Calls `call` once it is aborted, unless what is returned is called before. */
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

/** For those who take nothing but a signal of the platform. */
export function platformSignal(signal: Abortable | null | undefined): AbortSignal | undefined {
  return (signal instanceof RequestEnd ? signal.signal : signal) ?? undefined;
}

interface Listener {
  readonly calls: Set<() => void>;
  readonly stop: () => void;
}

const listeners = new WeakMap<AbortSignal, Listener>();

/**
 * Calls `call` once the signal is aborted, unless what is returned is called before. However many wait for one signal,
 * it has one listener: runtimes take many for a leak.
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
 * A signal that is aborted with the other, whose reason is an error of ours: what web streams and `fetch` throw of their
 * own is one, too. Each signal has one such, so that calls by the thousand listen to it once.
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

/** A signal that follows others. */
export interface FollowingSignal {
  readonly signal: AbortSignal;
  /** The signal follows no more: the others, which may live long, do not refer to it. */
  end(): void;
}

/**
 * A new signal that is aborted with the first of others, with its reason, until it is ended. Web streams and others that
 * listen to a signal each by themselves are given one of their own, of which no runtime warns.
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

/** What `work` gives, or `aborted` once the signal is; the work itself goes on unheard. */
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

/** What `items` gives, one after the other, or `aborted` once the signal is; work that does not end goes on unheard. */
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
