import type { Alternative, Cost, ScratchPass } from "./plan.ts";

/** A possible strategy and its candidates. */
export interface Rival<C extends Rated> {
  readonly name: string;
  candidates(): Iterable<C>;
}

/** The properties of candidates that are compared. */
export interface Rated {
  readonly cost: Cost;
  readonly passes?: readonly Pick<ScratchPass, "box">[] | undefined;
}

export interface ChoiceOptions<C> {
  /** The only strategy to consider. */
  readonly asked?: string | undefined;
  /**
   * Candidates within this multiple of the lowest cost count as equal; those with few passes and a low peak are
   * preferred. By default the first with the lowest cost is taken.
   */
  readonly nearly?: number;
  /**
   * Returns the reason why no other strategy needs to be tried, given the best candidate of one; undefined if they
   * do.
   */
  whyEnough(candidate: C): string | undefined;
}

export interface StrategyChoice<C> {
  readonly strategy: string;
  readonly best: C;
  /** The other strategies, with reasons. */
  readonly notTaken: readonly Alternative[];
}

/** Chooses the strategy with the lowest predicted time; undefined if none has a candidate. */
export function chooseStrategy<C extends Rated>(
  rivals: readonly Rival<C>[],
  { asked, nearly, whyEnough }: ChoiceOptions<C>,
): StrategyChoice<C> | undefined {
  const reasons = new Map<string, string>();
  const found = new Map<C, string>();
  let enough: string | undefined;
  for (const { name, candidates } of rivals) {
    const reason = asked && name !== asked ? `${asked} was asked for` : enough;
    const best = reason === undefined ? cheapest(candidates(), nearly) : undefined;
    if (best === undefined) {
      reasons.set(name, reason ?? "no layout fits the memory budget");
    } else {
      found.set(best, name);
      enough = whyEnough(best);
    }
  }
  const best = cheapest(found.keys(), nearly);
  const strategy = best && found.get(best);
  if (best === undefined || strategy === undefined) return undefined;
  const costs = new Map([...found].map(([{ cost }, name]) => [name, cost]));
  const notTaken = rivals
    .filter(({ name }) => name !== strategy)
    .map(({ name }): Alternative => {
      const cost = costs.get(name);
      if (cost === undefined) return { strategy: name, reason: reasons.get(name) ?? "" };
      const times = (cost.seconds / best.cost.seconds).toFixed(1);
      return { strategy: name, reason: `it would take ${times} times as long`, cost };
    });
  return { strategy, best, notTaken };
}

/**
 * Returns the candidate with the lowest predicted time; of several that are nearly equal, one with few passes and a
 * low peak.
 */
function cheapest<C extends Rated>(candidates: Iterable<C>, nearly: number | undefined): C | undefined {
  const all = [...candidates];
  const least = all.reduce((seconds, { cost }) => Math.min(seconds, cost.seconds), Number.POSITIVE_INFINITY);
  if (nearly === undefined) return all.find(({ cost }) => cost.seconds === least);
  return all
    .filter(({ cost }) => cost.seconds <= nearly * least)
    .sort((a, b) => morePasses(a) - morePasses(b) || a.cost.peak - b.cost.peak)[0];
}

/** Number of passes after the first. */
function morePasses({ passes = [] }: Rated): number {
  return Math.max(0, passes.length - 1);
}
