import { describe, expect, test } from "vitest";
import { isZarrflowError, slice } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";

/** One selection, as label_cases.py describes it. */
interface Case {
  readonly array: string;
  readonly slice: string;
  readonly nearest: boolean;
  readonly items: readonly number[];
  readonly dropped: boolean | null;
}

const COUNT = 500;

describe.runIf(hasPython)("labels, against xarray's sel", () => {
  const folder = temporaryFolder();

  test(`${COUNT} random selections take the same items`, { timeout: 300_000 }, async () => {
    const cases = (await runPython("label_cases.py", folder.path, `${COUNT}`, "19")) as Case[];
    const differing: string[] = [];
    let taken = 0;
    for (const { array, slice: text, nearest, items, dropped } of cases) {
      const found = await itemsOf(array, text, nearest);
      if (found.items.length > 0) taken++;
      const isSame = `${found.items}` === `${items}`;
      const isDropped = dropped === null || found.items.length === 0 || found.rank === (dropped ? 0 : 1);
      if (!isSame || !isDropped)
        differing.push(
          `${array} ${text}: ${rangeOf(items)}, not ${rangeOf(found.items)} of rank ${found.rank}`,
        );
    }
    expect(differing).toEqual([]);
    expect(cases.length).toBe(COUNT);
    expect(taken).toBeGreaterThan(COUNT / 2);
  });
});

function rangeOf(items: readonly number[]): string {
  return `${items.length} from ${items[0]}`;
}

/** The items that labels take; none where they are rejected for taking none. */
async function itemsOf(array: string, text: string, nearest: boolean) {
  const part = slice(array, text, { nearest });
  try {
    const { data, shape } = await part.read();
    return { items: Array.from(data as Iterable<number | bigint>, Number), rank: shape.length };
  } catch (error) {
    if (!isZarrflowError(error, "invalid-selection")) throw error;
    return { items: [], rank: 1 };
  }
}
