import type { Alternative, Cost, ScratchPass } from "./plan.ts";

/** A strategy that may be taken, and its ways to split the work. */
export interface Rival<C extends Rated> {
  readonly name: string;
  candidates(): Iterable<C>;
}

/** What the chooser looks at. */
export interface Rated {
  readonly cost: Cost;
  readonly passes?: readonly Pick<ScratchPass, "box">[] | undefined;
}

export interface ChoiceOptions<C> {
  /** The only strategy that is wanted. */
  readonly asked?: string | undefined;
  /** Of candidates that cost up to so many times the least, the one with few passes and a low peak is taken; absent: the first of the least. */
  readonly nearly?: number;
  /** Why nothing else needs to be tried where a strategy's best candidate is known; undefined: it does. */
  whyEnough(candidate: C): string | undefined;
}

export interface StrategyChoice<C> {
  readonly strategy: string;
  readonly best: C;
  /** Why the other strategies were not taken. */
  readonly notTaken: readonly Alternative[];
}

/** The strategy that is predicted to take the least time; undefined where none has a candidate. */
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

/** The one that takes the least time; of several that take nearly the same, one of few passes and with a low peak. */
function cheapest<C extends Rated>(candidates: Iterable<C>, nearly: number | undefined): C | undefined {
  const all = [...candidates];
  const least = all.reduce((seconds, { cost }) => Math.min(seconds, cost.seconds), Number.POSITIVE_INFINITY);
  if (nearly === undefined) return all.find(({ cost }) => cost.seconds === least);
  return all
    .filter(({ cost }) => cost.seconds <= nearly * least)
    .sort((a, b) => morePasses(a) - morePasses(b) || a.cost.peak - b.cost.peak)[0];
}

/** Passes beyond the first. */
function morePasses({ passes = [] }: Rated): number {
  return Math.max(0, passes.length - 1);
}
