/** Fraction of responses that arrive within the usual time. */
const USUAL_PART = 0.95;
/**
 * Fraction by which a slower response raises the usual time. Faster ones lower it by less, so that it settles at
 * `USUAL_PART`.
 */
const STEP = 0.1;
/** Responses after which the usual time is known, and the time allowed until then. */
const ENOUGH = 16;
const UNKNOWN_MS = 3000;
/** A request is late after this many times the usual time, but not before this many milliseconds. */
const TIMES = 3;
const LEAST_MS = 250;
/** Bytes a millisecond that extend this time for a large range, which the server may have to fetch first. */
const SLOWEST_RATE = 1000;
/** Retries of late requests that are allowed: at first, per response, and at most. */
const FIRST_SPARE = 4;
const SPARE_OF_ANSWER = 0.05;
const MOST_SPARE = 16;
/** Milliseconds between checks for late requests. */
const LOOK_MS = 50;

/** Time allowed for a request. */
interface Wait {
  /** Multiple of the usual time. */
  readonly times: number;
  /** Bytes that the request reads. */
  readonly bytes: number;
}

/** A request in flight. */
interface Waiting extends Wait {
  readonly begun: number;
  readonly giveUp: (waited: number) => void;
}

/**
 * Detects late requests among those of one kind to one server: those that take several times as long as nearly all
 * others. At most about one in twenty counts as late, so that a slow server does not get all requests twice.
 */
export class Patience {
  #usual = 0;
  #answers = 0;
  #spare = FIRST_SPARE;
  readonly #waiting = new Set<Waiting>();
  #looksAt = 0;

  /**
   * Waits for a response until the returned function is called, with true if there was one. Calls `giveUp` once if
   * the response is late.
   */
  wait({ times, bytes }: Wait, giveUp: (waited: number) => void): (isAnswered: boolean) => void {
    const waiting = { begun: performance.now(), times, bytes, giveUp };
    this.#waiting.add(waiting);
    if (this.#waiting.size === 1 && this.#looksAt === 0) this.#lookLater();
    return (isAnswered) => {
      this.#waiting.delete(waiting);
      if (isAnswered) this.#answered(performance.now() - waiting.begun);
    };
  }

  #answered(milliseconds: number): void {
    if (this.#answers++ === 0) this.#usual = milliseconds;
    else if (milliseconds > this.#usual) this.#usual = Math.max(1, this.#usual) * (1 + STEP);
    else this.#usual *= 1 - (STEP * (1 - USUAL_PART)) / USUAL_PART;
    this.#spare = Math.min(MOST_SPARE, this.#spare + SPARE_OF_ANSWER);
  }

  #lookLater(): void {
    this.#looksAt = performance.now() + LOOK_MS;
    setTimeout(() => {
      // a thread that was busy has not processed all responses yet
      if (performance.now() < this.#looksAt + LOOK_MS) this.#look();
      this.#looksAt = 0;
      if (this.#waiting.size > 0) this.#lookLater();
    }, LOOK_MS);
  }

  #look(): void {
    const now = performance.now();
    const most = this.#answers < ENOUGH ? UNKNOWN_MS : Math.max(LEAST_MS, TIMES * this.#usual);
    for (const waiting of this.#waiting) {
      if (this.#spare < 1) return;
      if (now - waiting.begun < most * waiting.times + waiting.bytes / SLOWEST_RATE) continue;
      this.#spare--;
      this.#waiting.delete(waiting);
      waiting.giveUp(now - waiting.begun);
    }
  }
}

/** Maximum number of remembered servers. */
const MOST_SERVERS = 512;
const known = new Map<string, Patience>();

/**
 * Returns the patience for requests like that to `url`. A server has one for plain URLs and one for URLs with a
 * query, such as listings, whose response times differ.
 */
export function patienceWith({ origin, search }: URL): Patience {
  const kind = search === "" ? origin : `${origin}?`;
  const patience = known.get(kind);
  if (patience) return patience;
  if (known.size >= MOST_SERVERS) known.clear();
  const fresh = new Patience();
  known.set(kind, fresh);
  return fresh;
}
