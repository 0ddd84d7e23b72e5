/** Requests in flight at the start: enough for a short run, and harmless for any server. */
export const FIRST_ALLOWED = 64;
/** Maximum number of requests in flight, unless the user asks for more. */
export const MAX_ALLOWED = 256;
/** Minimum number of requests in flight, unless the server reports an overload. */
const MIN_ALLOWED = 4;
/** Minimum under overload: one request in flight for this fraction of the time. */
const LEAST_ALLOWED = 1 / 1024;

/** Factor of a step up or down. */
const STEP = 1.25;
/** Factor while the limit still grows. */
const DOUBLE = 2;
/**
 * Gain of the rate, relative to the increase of requests in flight: from the first value on, a step up is worth
 * it; up to the second, a step down.
 */
const WORTH_MORE = 0.25;
const WORTH_LESS = 0.1;
/** Gain that doubling needs. Below it, steps find the limit, without the memory of twice as many requests. */
const WORTH_DOUBLING = 0.5;
/**
 * Rounds with too little gain that are tolerated: one after doubling, which may be spent opening connections, and
 * one before a step down.
 */
const MAX_MISSES = 1;
/**
 * Minimum difference between numbers of requests in flight, as a natural logarithm, for which rates are compared.
 */
const LEAST_CONTRAST = 0.05;
/** Rounds without a trial: after a change, and at most after several trials without one. */
const FIRST_REST = 1;
const MAX_REST = 8;
/** Milliseconds after an overload in which the limit grows by only one request a round. */
const CAREFUL_MS = 60_000;
/** Decrease of the limit for each rejected request. */
const REFUSED = 1 / 2;
/** Factor of an increase after a success while the limit is below one request. */
const REGAIN = 1.25;

const PHASES = ["double", "rest", "more", "less", "careful"] as const;
type Phase = (typeof PHASES)[number];

/** Indexes of the numbers in memory. */
const PHASE = 0;
const CENTER = 1;
const KNOWN_RATE = 2;
const KNOWN_IN_FLIGHT = 3;
const COUNT = 4;
const REST = 5;
const OVERLOADED_AT = 6;
const USELESS = 7;
/** Length of a control's memory. */
export const CONTROL_NUMBERS = 8;

/** Result of a round of requests, all started while as many as allowed were in flight. */
export interface Round {
  readonly inFlight: number;
  /** Work done in a unit of time, in any unit. */
  readonly rate: number;
}

/**
 * Finds how many requests a server should have in flight, from the rate of its responses. The limit doubles each
 * round while the rate grows. After that, a round with slightly more requests is compared with one with slightly
 * fewer from time to time: the limit rises if the rate rises with it, and falls if requests only wait longer. Each
 * rejected request lowers the limit by half a request; then it grows by one request a round.
 *
 * Threads may share the memory of the numbers. A thread that changes them holds the lock.
 */
export class ConcurrencyControl {
  readonly #numbers: Float64Array;

  /** @param numbers `CONTROL_NUMBERS` of them; all 0 at the start */
  constructor(numbers: Float64Array) {
    this.#numbers = numbers;
  }

  static first(most: number): number {
    return Math.min(FIRST_ALLOWED, most);
  }

  /** True for some time after an overload, in which only successes raise the limit. */
  isCareful(now: number): boolean {
    if (this.#phase !== "careful") return false;
    if (now - this.#get(OVERLOADED_AT) < CAREFUL_MS) return true;
    this.#rest(FIRST_REST);
    return false;
  }

  /** Returns the limit after a success while `isCareful`. */
  succeeded(allowed: number, most: number): number {
    return Math.min(most, allowed < 1 ? Math.min(1, allowed * REGAIN) : allowed + 1 / allowed);
  }

  /** Returns the limit after a rejected request. A round of rejected requests halves it. */
  overloaded(allowed: number, now: number): number {
    this.#phase = "careful";
    this.#set(OVERLOADED_AT, now);
    return Math.max(LEAST_ALLOWED, allowed / 2, allowed - REFUSED);
  }

  /** Returns the limit after a round. */
  ended({ inFlight, rate }: Round, allowed: number, most: number): number {
    switch (this.#phase) {
      case "double":
        return this.#doubled({ inFlight, rate }, allowed, most);
      case "more":
        this.#know({ inFlight, rate });
        this.#phase = "less";
        return Math.max(1, this.#get(CENTER) / STEP);
      case "less":
        return this.#compared({ inFlight, rate }, most);
      case "rest": {
        const rounds = this.#get(COUNT) + 1;
        this.#set(COUNT, rounds);
        if (rounds < this.#get(REST)) return allowed;
        this.#set(CENTER, allowed);
        this.#phase = "more";
        return Math.min(most, allowed * STEP);
      }
      default:
        return allowed;
    }
  }

  #doubled(round: Round, allowed: number, most: number): number {
    const known = this.#get(KNOWN_IN_FLIGHT);
    const isWorth = known === 0 || gainOf(this.#known, round) >= WORTH_DOUBLING;
    if (isWorth && allowed < most) {
      this.#know(round);
      this.#set(COUNT, 0);
      return Math.min(most, allowed * DOUBLE);
    }
    const misses = this.#get(COUNT);
    if (!isWorth && misses < MAX_MISSES) {
      this.#set(COUNT, misses + 1);
      return allowed;
    }
    this.#rest(FIRST_REST);
    return isWorth ? allowed : Math.max(1, known);
  }

  #compared(less: Round, most: number): number {
    const center = this.#get(CENTER);
    const gain = gainOf(less, this.#known);
    const useless = gain <= WORTH_LESS ? this.#get(USELESS) + 1 : 0;
    const isTooMany = useless > MAX_MISSES;
    this.#set(USELESS, isTooMany ? 0 : useless);
    let next = center;
    if (gain >= WORTH_MORE) next = Math.min(most, center * STEP);
    else if (isTooMany) next = Math.max(Math.min(center, MIN_ALLOWED), center / STEP);
    const isSettled = next === center && useless === 0;
    this.#rest(isSettled ? Math.min(MAX_REST, this.#get(REST) * 2) : FIRST_REST);
    return next;
  }

  #rest(rounds: number): void {
    this.#phase = "rest";
    this.#set(REST, rounds);
    this.#set(COUNT, 0);
  }

  get #phase(): Phase {
    return PHASES[this.#get(PHASE)] ?? "double";
  }

  set #phase(phase: Phase) {
    this.#set(PHASE, PHASES.indexOf(phase));
  }

  get #known(): Round {
    return { inFlight: this.#get(KNOWN_IN_FLIGHT), rate: this.#get(KNOWN_RATE) };
  }

  #know({ inFlight, rate }: Round): void {
    this.#set(KNOWN_IN_FLIGHT, inFlight);
    this.#set(KNOWN_RATE, rate);
  }

  #get(place: number): number {
    return this.#numbers[place] ?? 0;
  }

  #set(place: number, value: number): void {
    this.#numbers[place] = value;
  }
}

/** Returns the relative gain of the rate by more requests in flight: 1 if each is answered as fast as before. */
function gainOf(fewer: Round, more: Round): number {
  const contrast = Math.log(more.inFlight / fewer.inFlight);
  if (!(contrast >= LEAST_CONTRAST)) return (WORTH_LESS + WORTH_MORE) / 2;
  return Math.log(more.rate / fewer.rate) / contrast;
}
