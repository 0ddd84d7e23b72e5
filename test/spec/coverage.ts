import { expect, it } from "vitest";
import type { Row } from "./rows.ts";

export interface Coverage {
  /** What `testRows` runs. */
  readonly rows: readonly Row[];
  /** Why an item cannot be tested, by item. */
  readonly untestable: Readonly<Record<string, string>>;
}

/** Holds that each of `items` has a row that runs, or a reason; and that nothing else has. */
export function testCoverage(items: readonly string[], { rows, untestable }: Coverage): void {
  it("every item of the page has a row, and every row an item", () => {
    const covered = new Set([...rows.map(([id]) => id), ...Object.keys(untestable)]);
    expect(items.filter((id) => !covered.has(id))).toEqual([]);
    expect([...covered].filter((id) => !items.includes(id))).toEqual([]);
  });
}
