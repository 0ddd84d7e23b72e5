import type { StrategyName } from "../plan.ts";
import { direct } from "./direct.ts";
import { staged } from "./staged.ts";
import type { Strategy } from "./strategy.ts";
import { transcode } from "./transcode.ts";
import { verbatim } from "./verbatim.ts";

/** All strategies. The first that keeps the grid and can make the target is taken; else the cheapest of the others. */
export const strategies: readonly Strategy[] = [verbatim, transcode, direct, staged];

const byName = new Map(strategies.map((strategy) => [strategy.name, strategy]));

export function strategyNamed(name: StrategyName): Strategy {
  const strategy = byName.get(name);
  if (strategy === undefined) throw new RangeError(`there is no strategy ${name}`);
  return strategy;
}
