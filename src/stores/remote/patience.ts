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
/** How many requests may be made again for being late: at first, for each answer more, and at most. */
const FIRST_SPARE = 4;
const SPARE_OF_ANSWER = 0.05;
const MOST_SPARE = 16;
/** Milliseconds between two looks at what is late. */
const LOOK_MS = 50;

/** A request that is waited for. */
interface Waiting {
  readonly begun: number;
  /** How many times as long as others it is waited for. */
  readonly times: number;
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
   * Waits for an answer, `times` as long as usual, until what is returned is called with whether it came; `giveUp` is called
   * once it is late.
   */
  wait(times: number, giveUp: (waited: number) => void): (isAnswered: boolean) => void {
    const waiting = { begun: performance.now(), times, giveUp };
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
      if (now - waiting.begun < most * waiting.times) continue;
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
