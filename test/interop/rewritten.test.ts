// @module-tag sampled
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../src/stores/memory.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { drawsAll } from "../support/samples.ts";
import { WRITE_EXCEPTIONS } from "./exceptions.ts";
import { changedDocuments, type GoodArray, goodArrays, rewriteArray } from "./rewritten.ts";
import { hasShared } from "./shared.ts";
import { asJson, featureOf, formatOf, tallyOf } from "./tally.ts";

const exceptionOf = ({ id }: GoodArray) => WRITE_EXCEPTIONS.find((one) => one.id.test(id));

/** All in the long run, else a quarter of those with each feature in each format, and all exceptions. */
function drawn(): readonly GoodArray[] {
  if (drawsAll) return goodArrays;
  const seen = new Map<string, number>();
  return goodArrays.filter((one) => {
    const kind = `${featureOf(one)} ${formatOf(one)}`;
    const number = seen.get(kind) ?? 0;
    seen.set(kind, number + 1);
    return number % 4 === 0 || exceptionOf(one) !== undefined;
  });
}

describe.runIf(hasShared)("arrays of both corpora, read, written anew and read again", () => {
  const right = new Set<string>();

  test.each(drawn())("$id keeps its values in each format that holds them", async (one) => {
    const exception = exceptionOf(one);
    const outcome = await rewritten(one);
    expect(outcome).toEqual(exception?.gives ?? { reading: "right", changed: [] });
    if (exception === undefined) right.add(one.id);
  });

  test("every exception is one", () => {
    for (const { id } of WRITE_EXCEPTIONS) expect(goodArrays.some((one) => id.test(one.id))).toBe(true);
  });

  // Run this with `ZARRFLOW_SAMPLES=all` and `-u`, and then test/docs/formats.test.ts, to renew the tables.
  test.runIf(drawsAll)("the count is the one of docs/formats.md", async () => {
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
