/** Requests in flight at the start; as many as a short run gains from, and no server is hurt by. */
export const FIRST_ALLOWED = 64;
/** The most requests in flight that are found without being asked for. */
export const MAX_ALLOWED = 256;
/** Fewer are not tried where nobody complains. */
const MIN_ALLOWED = 4;
/** Under overload: one request in flight for such a part of the time. */
const LEAST_ALLOWED = 1 / 1024;

/** A step up or down. */
const STEP = 1.25;
/** While it grows, all at once. */
const DOUBLE = 2;
/** What a proportional increase must gain of its proportion: more of it is worth a step up, less a step down. */
const WORTH_MORE = 0.25;
const WORTH_LESS = 0.1;
/** What doubling must gain: where it gains less, steps find the rest, and the memory of twice as many is not taken. */
const WORTH_DOUBLING = 0.5;
/** A round that opens connections may gain less by doubling once; one that gains too little of fewer is looked at twice. */
const MAX_MISSES = 1;
/** Requests in flight must differ by so much, as a natural logarithm, for rates to be compared. */
const LEAST_CONTRAST = 0.05;
/** Rounds without a trial: after one that changed something, and the most after several that did not. */
const FIRST_REST = 1;
const MAX_REST = 8;
/** Milliseconds after an overload in which requests in flight grow by one for each round, and no faster. */
const CAREFUL_MS = 60_000;
/** What a refused request takes off. */
const REFUSED = 1 / 2;
/** What a success adds, as a part, where less than one request is in flight. */
const REGAIN = 1.25;

const PHASES = ["double", "rest", "more", "less", "careful"] as const;
type Phase = (typeof PHASES)[number];

/** Places of the numbers in memory. */
const PHASE = 0;
const CENTRE = 1;
const KNOWN_RATE = 2;
const KNOWN_IN_FLIGHT = 3;
const COUNT = 4;
const REST = 5;
const OVERLOADED_AT = 6;
const USELESS = 7;
/** Numbers that a control takes. */
export const CONTROL_NUMBERS = 8;

/** What a round of requests came to, all of which began while as many as allowed were in flight. */
export interface Round {
  readonly inFlight: number;
  /** What was done in a unit of time, in any unit. */
  readonly rate: number;
}

/**
 * How many requests a server is to have in flight, found by the rate at which it answers. Twice as many for each round, as
 * long as the rate grows; then a round with a few more is compared now and then with one with a few less, and the better
 * one is kept: more where the rate follows, fewer where requests only wait longer. Half a request less for each that is
 * refused, then one more for each round.
 *
 * The numbers lie in memory that threads may share: who changes them holds the lock.
 */
export class ConcurrencyControl {
  readonly #numbers: Float64Array;

  /** @param numbers `CONTROL_NUMBERS` of them; all 0 at the start */
  constructor(numbers: Float64Array) {
    this.#numbers = numbers;
  }

  /** What is allowed at the start. */
  static first(most: number): number {
    return Math.min(FIRST_ALLOWED, most);
  }

  /** Whether an overload was so recent that successes alone decide. */
  isCareful(now: number): boolean {
    if (this.#phase !== "careful") return false;
    if (now - this.#get(OVERLOADED_AT) < CAREFUL_MS) return true;
    this.#rest(FIRST_REST);
    return false;
  }

  /** What is allowed after a request that was answered while `isCareful`. */
  succeeded(allowed: number, most: number): number {
    return Math.min(most, allowed < 1 ? Math.min(1, allowed * REGAIN) : allowed + 1 / allowed);
  }

  /** What is allowed after the server has refused a request: half as many after a round that it refuses. */
  overloaded(allowed: number, now: number): number {
    this.#phase = "careful";
    this.#set(OVERLOADED_AT, now);
    return Math.max(LEAST_ALLOWED, allowed / 2, allowed - REFUSED);
  }

  /** What is allowed after a round. */
  ended({ inFlight, rate }: Round, allowed: number, most: number): number {
    switch (this.#phase) {
      case "double":
        return this.#doubled({ inFlight, rate }, allowed, most);
      case "more":
        this.#know({ inFlight, rate });
        this.#phase = "less";
        return Math.max(1, this.#get(CENTRE) / STEP);
      case "less":
        return this.#compared({ inFlight, rate }, most);
      case "rest": {
        const rounds = this.#get(COUNT) + 1;
        this.#set(COUNT, rounds);
        if (rounds < this.#get(REST)) return allowed;
        this.#set(CENTRE, allowed);
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
    const centre = this.#get(CENTRE);
    const gain = gainOf(less, this.#known);
    const useless = gain <= WORTH_LESS ? this.#get(USELESS) + 1 : 0;
    const isTooMany = useless > MAX_MISSES;
    this.#set(USELESS, isTooMany ? 0 : useless);
    let next = centre;
    if (gain >= WORTH_MORE) next = Math.min(most, centre * STEP);
    else if (isTooMany) next = Math.max(Math.min(centre, MIN_ALLOWED), centre / STEP);
    const isSettled = next === centre && useless === 0;
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

/** What part of a proportional increase of requests in flight the rate has gained: 1 where each is answered as fast. */
function gainOf(fewer: Round, more: Round): number {
  const contrast = Math.log(more.inFlight / fewer.inFlight);
  if (!(contrast >= LEAST_CONTRAST)) return (WORTH_LESS + WORTH_MORE) / 2;
  return Math.log(more.rate / fewer.rate) / contrast;
}
