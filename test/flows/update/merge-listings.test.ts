import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Keyed, mergeListings, type Pair } from "../../../src/flows/update/merge-listings.ts";
import { compareUtf8 } from "../../../src/util/utf8-order.ts";
import { all } from "../../support/consume.ts";

async function* entries(keys: Iterable<string>, onEnd = () => {}): AsyncGenerator<Keyed> {
  try {
    for (const key of keys) yield { key, listed: { key, size: key.length } };
  } finally {
    onEnd();
  }
}

const merged = (left: Iterable<string>, right: Iterable<string>): Promise<Pair[]> =>
  all(mergeListings(entries(left), entries(right)));

describe("mergeListings", () => {
  test("gives every key once, in order, with what each side has", async () => {
    const keys = fc.uniqueArray(fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }));
    await fc.assert(
      fc.asyncProperty(keys, keys, async (a, b) => {
        const pairs = await merged([...a].sort(compareUtf8), [...b].sort(compareUtf8));
        const all = [...new Set([...a, ...b])].sort(compareUtf8);
        expect(pairs.map(({ key }) => key)).toEqual(all);
        for (const { key, left, right } of pairs)
          expect([left?.key, right?.key]).toEqual(
            [a, b].map((keys) => (keys.includes(key) ? key : undefined)),
          );
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    [["b", "a"], []],
    [[], ["a", "b", "b"]],
    [["\u{1f600}", "\uff5e"], ["a"]],
  ])("refuses listings that are not sorted: %j %j", async (left, right) => {
    await expect(merged(left, right)).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  test("ends both listings when it is left, and reads no further than it must", async () => {
    const ended: string[] = [];
    let read = 0;
    const counting = function* () {
      for (; read < 1000; ) yield String(read++).padStart(4, "0");
    };
    const pairs = mergeListings(
      entries(counting(), () => ended.push("left")),
      entries(["0001", "0002"], () => ended.push("right")),
    );
    for await (const { key } of pairs) if (key === "0003") break;
    expect(ended.sort()).toEqual(["left", "right"]);
    expect(read).toBeLessThan(7);
  });
});
