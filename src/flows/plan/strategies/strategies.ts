import { direct } from "./direct.ts";
import { staged } from "./staged.ts";
import type { Strategy } from "./strategy.ts";
import { transcode } from "./transcode.ts";
import { verbatim } from "./verbatim.ts";

const listed = [verbatim, transcode, direct, staged] as const;
type Listed = (typeof listed)[number];

/** Names of strategies in plans. */
export type StrategyName = Listed["name"];

/**
 * All strategies. The first that keeps the grid and can make the target is taken; otherwise the cheapest of the
 * others.
 */
export const strategies: readonly Strategy<StrategyName>[] = listed;

const byName = new Map<string, Strategy>(strategies.map((strategy) => [strategy.name, strategy]));

export function strategyNamed(name: string): Strategy {
  const strategy = byName.get(name);
  if (strategy === undefined) throw new RangeError(`the strategy ${name} does not exist`);
  return strategy;
}
