import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Row } from "./rows.ts";

export interface Coverage {
  readonly rows: readonly Row[];
  /** Test files that name an item, by item. */
  readonly elsewhere: Readonly<Record<string, string>>;
  /** Why an item cannot be tested, by item. */
  readonly untestable: Readonly<Record<string, string>>;
}

/** Holds that each of `items` has a row, a test file that names it, or a reason; and that nothing else has. */
export function testCoverage(items: readonly string[], { rows, elsewhere, untestable }: Coverage): void {
  it("tests every item", () => {
    const covered = new Set([
      ...rows.map(([id]) => id),
      ...Object.keys(elsewhere),
      ...Object.keys(untestable),
    ]);
    expect(items.filter((id) => !covered.has(id))).toEqual([]);
    expect([...covered].filter((id) => !items.includes(id))).toEqual([]);
  });

  it.each(Object.entries(elsewhere))("%s is named in %s", (id, file) => {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    expect(text).toMatch(new RegExp(`\\b${id}\\b`));
  });
}
