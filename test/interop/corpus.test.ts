import { describe, expect, test } from "vitest";
import type { Outcome } from "./compare.ts";
import { CORPUS, corpusCases, LEGACY_CORPUS, legacyCases } from "./corpora.ts";
import { runCase } from "./corpus-case.ts";
import { EXCEPTIONS } from "./exceptions.ts";
import { runLegacyCase } from "./legacy-case.ts";
import { hasShared } from "./shared.ts";
import type { FeaturedCase } from "./tally.ts";
import { asJson, tallyOf } from "./tally.ts";

interface Run extends FeaturedCase {
  readonly error_stage?: string;
  readonly run: () => Promise<Outcome>;
}

const corpora: Readonly<Record<string, readonly Run[]>> = {
  corpus: corpusCases.map((one) => ({ ...one, run: () => runCase(one, CORPUS) })),
  "corpus-legacy": legacyCases.map((one) => ({ ...one, run: () => runLegacyCase(one, LEGACY_CORPUS) })),
};
const all = Object.values(corpora).flat();
const outcomes = new Map<string, Outcome>();

describe.runIf(hasShared).each(Object.entries(corpora))("%s", (name, cases) => {
  test.each(cases)("$id is read, or refused, as its manifest says", async ({ id, run }) => {
    const outcome = await run();
    outcomes.set(id, outcome);
    const exception = EXCEPTIONS.find((one) => one.id.test(id));
    const wanted = exception === undefined ? "right" : { gives: exception.gives };
    expect(outcome).toEqual(typeof wanted === "string" ? wanted : expect.objectContaining(wanted));
  });

  test("every case was read", () => {
    console.log(`${name}: ${countOf(cases)}`);
    expect(cases.filter(({ id }) => !outcomes.has(id))).toEqual([]);
  });
});

describe.runIf(hasShared)("both corpora", () => {
  test("no two cases have one id", () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });

  test("every exception is one", () => {
    for (const { id } of EXCEPTIONS) expect(all.filter((one) => id.test(one.id))).not.toEqual([]);
  });

  // Run this with `-u`, and then test/docs/formats.test.ts, to renew the tables.
  test("the count is the one of docs/formats.md", async () => {
    console.log(`both corpora: ${countOf(all)}`);
    const tally = tallyOf(all, (one) => kindOf(one) === "right");
    await expect(asJson(tally)).toMatchFileSnapshot("approved/read.json");
  });
});

/** Where the manifest leaves it open whether there is an error, reading is right: docs/formats.md tells which. */
function kindOf({ id, error_stage }: Run): "right" | "refused" | "read all the same" | "wrong" {
  const outcome = outcomes.get(id) ?? { wrong: "not run" };
  if (outcome === "right") return "right";
  if ("wrong" in outcome) return "wrong";
  if (outcome.gives !== "read") return "refused";
  return error_stage === "open-or-ok" ? "right" : "read all the same";
}

function countOf(cases: readonly Run[]): string {
  const others = ["refused", "read all the same", "wrong"] as const;
  const count = (kind: string) => cases.filter((one) => kindOf(one) === kind).length;
  const told = others.map((kind) => `${count(kind)} ${kind}`).join(", ");
  return `${count("right")} of ${cases.length} right (${told})`;
}
