import { expect, test } from "vitest";
import { strategyOptions } from "../../../src/cli/shared-options.ts";
import { chooseStrategy, type Rated } from "../../../src/flows/plan/choose-strategy.ts";
import { strategies, strategyNamed } from "../../../src/flows/plan/strategies/strategies.ts";
import { assertGridStrategy, type GridStrategy } from "../../../src/hierarchy/read-options.ts";

const candidate = (seconds: number, peak = 1): Rated => ({
  cost: { seconds, peak, timesDecoded: 1, requests: 1, scratchBytes: 0 },
});
const first = { name: "direct" as const, candidates: () => [candidate(9), candidate(3)] };
const second = { name: "staged" as const, candidates: () => [candidate(2)] };
const third = { name: "transcode" as const, candidates: () => [candidate(1), candidate(5)] };
const none = { name: "verbatim" as const, candidates: () => [] };

test("every strategy that changes the grid can be asked for, and no other one", () => {
  const names = strategies.filter(({ changesGrid }) => changesGrid).map(({ name }) => name);
  expect(strategyOptions.strategy.choices).toEqual(names);
  expect(strategyOptions.strategy.value).toBe(names.join("|"));
  for (const { name, changesGrid } of strategies) {
    expect(strategyNamed(name).name).toBe(name);
    const check = () => assertGridStrategy(name as GridStrategy);
    if (changesGrid) check();
    else expect(check).toThrow(/strategy/);
  }
});

test("every strategy that changes the grid gives items in C order, too", () => {
  for (const { name, changesGrid, slabs } of strategies) expect(slabs !== undefined, name).toBe(changesGrid);
});

test("of any number of strategies the cheapest is taken, and each other one has a reason", () => {
  const choice = chooseStrategy([first, second, none, third], { whyEnough: () => undefined });
  expect(choice).toMatchObject({ strategy: "transcode", best: { cost: { seconds: 1 } } });
  expect(choice?.notTaken.map(({ strategy, reason }) => [strategy, reason])).toEqual([
    ["direct", "it would take 3.0 times as long"],
    ["staged", "it would take 2.0 times as long"],
    ["verbatim", "no layout fits the memory budget"],
  ]);
});

test("what is good enough ends the search", () => {
  const choice = chooseStrategy([first, second, third], { whyEnough: () => "it is enough" });
  expect(choice).toMatchObject({
    strategy: "direct",
    best: { cost: { seconds: 3 } },
    notTaken: [
      { strategy: "staged", reason: "it is enough" },
      { strategy: "transcode", reason: "it is enough" },
    ],
  });
});

test("the strategy that is asked for is the only one that is looked at", () => {
  const options = { asked: "staged" as const, whyEnough: () => undefined };
  expect(chooseStrategy([first, second], options)).toMatchObject({
    strategy: "staged",
    notTaken: [{ strategy: "direct", reason: "staged was asked for" }],
  });
  expect(chooseStrategy([first, { ...second, candidates: () => [] }], options)).toBeUndefined();
});

test("of nearly the same cost, the one with the lower peak is taken where that is wanted", () => {
  const rivals = [{ ...first, candidates: () => [candidate(1, 9), candidate(1.05, 2)] }];
  const best = (nearly?: number) =>
    chooseStrategy(rivals, { ...(nearly !== undefined && { nearly }), whyEnough: () => undefined })?.best.cost
      .peak;
  expect(best(1.1)).toBe(2);
  expect(best()).toBe(9);
});
