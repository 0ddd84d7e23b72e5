import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type CorpusCase, runCase } from "./corpus-case.ts";
import { hasShared, shared } from "./shared.ts";

const corpus = `${shared}corpus/`;

/** Cases whose feature is not here yet; one that turns out right must leave the list. */
const NOT_YET: readonly { readonly id: RegExp; readonly what: string }[] = [
  {
    id: /^v2\/hierarchy\/consolidated-(only|stale)\//,
    what: "hierarchies are not read from consolidated metadata",
  },
  { id: /^bad\/v2\/consolidated-/, what: "hierarchies are not read from consolidated metadata" },
  { id: /legacy-no-separator/, what: "nested directories that do not state their separator" },
];

describe.runIf(hasShared)("the v2 corpus", () => {
  const { cases } = hasShared
    ? (JSON.parse(readFileSync(`${corpus}manifest.json`, "utf8")) as { cases: CorpusCase[] })
    : { cases: [] };
  const v2 = cases.filter((one) => one.zarr_format === 2 || one.path.startsWith("bad/zip"));
  const count = { right: 0, refused: 0, notYet: 0 };

  test.each(v2)("$id", async (one) => {
    const outcome = await runCase(one, corpus);
    const notYet = NOT_YET.find(({ id }) => id.test(one.id));
    if (notYet) {
      count.notYet++;
      if (outcome !== "right") expect(one.tags).not.toContain("core");
      return;
    }
    if (outcome === "right") {
      count.right++;
      return;
    }
    expect(outcome, JSON.stringify(outcome)).toHaveProperty("refused");
    expect(one.tags, `a core case is refused: ${JSON.stringify(outcome)}`).not.toContain("core");
    count.refused++;
  });

  test("the count", () => {
    console.log(
      `v2 corpus: ${count.right} right, ${count.refused} refused in words, ${count.notYet} not yet, of ${v2.length}`,
    );
    expect(count.right).toBeGreaterThan(0);
  });
});
