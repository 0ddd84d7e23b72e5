import { invalid } from "../../../util/check-options.ts";

/** The strategies that change the grid, which may be asked for. */
export const gridStrategies = ["direct", "staged"] as const;

export type GridStrategy = (typeof gridStrategies)[number];

/** Holds that a strategy may be asked for. @throws `invalid-option` */
export function assertGridStrategy(name: GridStrategy | undefined): void {
  if (name === undefined || gridStrategies.includes(name)) return;
  const expected = `one of ${gridStrategies.join(", ")}`;
  throw invalid("invalid value for the option `strategy`", expected, name);
}
