import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../src/stores/memory.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { WRITE_EXCEPTIONS } from "./exceptions.ts";
import { changedDocuments, type GoodArray, goodArrays, rewriteArray } from "./rewritten.ts";
import { hasShared } from "./shared.ts";
import { asJson, tallyOf } from "./tally.ts";

describe.runIf(hasShared)("arrays of both corpora, read, written anew and read again", () => {
  const right = new Set<string>();

  test.each(goodArrays)("$id keeps its values in each format that holds them", async (one) => {
    const exception = WRITE_EXCEPTIONS.find(({ id }) => id.test(one.id));
    const outcome = await rewritten(one);
    expect(outcome).toEqual(exception?.gives ?? { reading: "right", changed: [] });
    if (exception === undefined) right.add(one.id);
  });

  test("every exception is one", () => {
    for (const { id } of WRITE_EXCEPTIONS) expect(goodArrays.some((one) => id.test(one.id))).toBe(true);
  });

  // Run this with `-u`, and then test/docs/formats.test.ts, to renew the tables.
  test("the count is the one of docs/formats.md", async () => {
    console.log(`written anew and equal: ${right.size} of ${goodArrays.length} arrays`);
    await expect(asJson(tallyOf(goodArrays, ({ id }) => right.has(id)))).toMatchFileSnapshot(
      "approved/written.json",
    );
  });
});

/** What comes back of an array that was written anew, or the code of the error that says why it was not. */
async function rewritten(one: GoodArray) {
  const source = await one.open();
  if (source.kind !== "array") return "a group was opened";
  try {
    const target = await rewriteArray(source, new MemoryStore(), one.name);
    return { reading: await one.compare(target), changed: changedDocuments(source, target) };
  } catch (error) {
    if (isZarrflowError(error)) return error.code;
    throw error;
  }
}
