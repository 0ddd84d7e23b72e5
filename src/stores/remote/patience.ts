/** The part of the answers that come within what is usual. */
const USUAL_PART = 0.95;
/** By what part the usual time grows with an answer that takes longer; others shrink it by as much less. */
const STEP = 0.1;
/** Answers by which the usual time is known, and what is waited until then. */
const ENOUGH = 16;
const UNKNOWN_MS = 3000;
/** A request is late after so many times what is usual, and not before that many milliseconds. */
const TIMES = 3;
const LEAST_MS = 250;
/** Bytes a millisecond that a request for many is allowed beyond that: the server may have to fetch them first. */
const SLOWEST_RATE = 1000;
/** How many requests may be made again for being late: at first, for each answer more, and at most. */
const FIRST_SPARE = 4;
const SPARE_OF_ANSWER = 0.05;
const MOST_SPARE = 16;
/** Milliseconds between two looks at what is late. */
const LOOK_MS = 50;

/** How long a request is waited for. */
interface Wait {
  /** How many times as long as others. */
  readonly times: number;
  /** Bytes that it asks for. */
  readonly bytes: number;
}

/** A request that is waited for. */
interface Waiting extends Wait {
  readonly begun: number;
  readonly giveUp: (waited: number) => void;
}

/**
 * Tells requests of one kind to one server that are late: several times what nearly all answers take. No more than one of
 * twenty is, so that a server that is slow as a whole is not asked twice.
 */
export class Patience {
  #usual = 0;
  #answers = 0;
  #spare = FIRST_SPARE;
  readonly #waiting = new Set<Waiting>();
  #looksAt = 0;

  /**
   * Waits for an answer until what is returned is called with whether it came; `giveUp` is called once it is late.
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
      // a thread that was busy has not heard of all that came
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

/** Servers that are remembered. */
const MOST_SERVERS = 512;
const known = new Map<string, Patience>();

/** The patience with answers like that to `url`: of its server, where listings and the like take their own time. */
export function patienceWith({ origin, search }: URL): Patience {
  const kind = search === "" ? origin : `${origin}?`;
  const patience = known.get(kind);
  if (patience) return patience;
  if (known.size >= MOST_SERVERS) known.clear();
  const fresh = new Patience();
  known.set(kind, fresh);
  return fresh;
}
