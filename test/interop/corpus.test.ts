import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type CorpusCase, runCase } from "./corpus-case.ts";
import { hasShared, shared } from "./shared.ts";

const corpus = `${shared}corpus/`;
const cases: readonly CorpusCase[] = hasShared
  ? JSON.parse(readFileSync(`${corpus}manifest.json`, "utf8")).cases
  : [];

/** Cases whose feature is not here yet, so that they are refused or wrong; the others must be right or refused. */
const NOT_YET: readonly { readonly id: RegExp; readonly what: string }[] = [
  { id: /legacy-no-separator/, what: "nested directories that do not state their separator" },
  {
    id: /consolidated-stale/,
    what: "consolidated metadata that are not true any more, read as if they were",
  },
  { id: /^bad\/v2\/consolidated-/, what: "broken consolidated metadata beside good documents" },
  { id: /meta-transpose-C/, what: "an order of transpose from before v3 was final is read, not refused" },
];

const formats = [
  { name: "v2", of: (one: CorpusCase) => one.zarr_format === 2 || one.path.startsWith("bad/zip") },
  { name: "v3", of: (one: CorpusCase) => one.zarr_format === 3 },
];

describe.runIf(hasShared).each(formats)("the $name corpus", ({ name, of }) => {
  const mine = cases.filter(of);
  const count = { right: 0, refused: 0, "not yet": 0 };

  test.each(mine)("$id", async (one) => {
    const outcome = await runCase(one, corpus);
    if (outcome === "right") {
      count.right++;
    } else if (NOT_YET.some(({ id }) => id.test(one.id))) {
      count["not yet"]++;
      expect(one.tags).not.toContain("core");
    } else {
      expect(outcome, JSON.stringify(outcome)).toHaveProperty("refused");
      count.refused++;
      const isCore = one.tags.includes("core") && !one.tags.includes("sharding_indexed");
      expect(isCore, `a core case is refused: ${JSON.stringify(outcome)}`).toBe(false);
    }
  });

  test("the count", () => {
    const counts = Object.entries(count).map(([outcome, n]) => `${n} ${outcome}`);
    console.log(`${name} corpus: ${counts.join(", ")}, of ${mine.length}`);
    expect(count.right).toBeGreaterThan(0);
  });
});
