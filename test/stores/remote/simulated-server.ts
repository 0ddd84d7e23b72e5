import type { AdaptiveLimit } from "../../../src/stores/remote/adaptive-limit.ts";

/** A clock that goes on when nothing is left to be done. */
export class VirtualClock {
  #now = 1000;
  readonly #due: { readonly at: number; readonly call: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  pause(ms: number): Promise<void> {
    return new Promise((call) => {
      const at = this.#now + ms;
      const last = this.#due.findLastIndex((other) => other.at <= at);
      this.#due.splice(last + 1, 0, { at, call });
    });
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#due[0]; next && next.at <= end; next = this.#due[0]) {
      this.#now = next.at;
      while (this.#due[0]?.at === this.#now) this.#due.shift()?.call();
      await settled();
    }
    this.#now = end;
  }
}

/** Resolves when everything that can be done now is done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A server that works on `slots` requests at one time; the others wait, or are refused where it refuses them. */
export interface SimulatedServer {
  /** May change while it runs. */
  slots: number;
  /** Milliseconds that each request takes, but for those that wait. */
  readonly ms: number;
  readonly refuses?: boolean;
  /** What a request takes beside, at random. */
  readonly jitter?: () => number;
}

export const SLOW_DOWN = new Error("SlowDown");
export const isSlowDown = (error: unknown) => error === SLOW_DOWN;

/** What happened at a server. */
export class ServerLog {
  answered = 0;
  refused = 0;
  /** The most requests in flight since it was set to 0. */
  most = 0;
  readonly #clock: VirtualClock;
  #inFlight = 0;
  #since = 0;
  #area = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  change(by: 1 | -1): void {
    this.#count();
    this.#inFlight += by;
    this.most = Math.max(this.most, this.#inFlight);
  }

  /** Lets some time pass: the mean of requests in flight, and of those that were answered in a second. */
  async over(ms: number): Promise<{ readonly inFlight: number; readonly perSecond: number }> {
    this.#count();
    const [area, answered] = [this.#area, this.answered];
    await this.#clock.advance(ms);
    this.#count();
    return { inFlight: (this.#area - area) / ms, perSecond: (this.answered - answered) / (ms / 1000) };
  }

  #count(): void {
    const now = this.#clock.now();
    this.#area += this.#inFlight * (now - this.#since);
    this.#since = now;
  }
}

/** A request to a server as a call that takes its time. */
export function requestTo(clock: VirtualClock, server: SimulatedServer, log: ServerLog): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let working = 0;
  const begin = () => {
    while (working < server.slots && waiting.length > 0) {
      working++;
      waiting.shift()?.();
    }
  };
  return async () => {
    log.change(1);
    try {
      if (server.refuses && log.inFlight > server.slots) {
        await clock.pause(server.ms);
        log.refused++;
        throw SLOW_DOWN;
      }
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        begin();
      });
      await clock.pause(server.ms + (server.jitter?.() ?? 0));
      working--;
      begin();
      log.answered++;
    } finally {
      log.change(-1);
    }
  };
}

/** Keeps `callers` calls waiting until it is stopped. */
export function keepAsking(limit: AdaptiveLimit, request: () => Promise<unknown>, callers = 400): () => void {
  let isStopped = false;
  const ask = async () => {
    while (!isStopped) await limit.run(request).catch(() => {});
  };
  for (let i = 0; i < callers; i++) void ask();
  return () => {
    isStopped = true;
  };
}
