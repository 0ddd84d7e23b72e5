import { expect, it } from "vitest";
import { type ErrorCode, isZarrflowError, type ZarrflowError } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { type Content, sortedKeys, valuesIn } from "./stores.ts";

const numbered = (prefix: string, ...ranges: readonly (readonly [first: number, last: number])[]) =>
  ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => `${prefix}-${first + i}`),
  );

/** The numbered items of each page of the specifications. */
export const SPEC_ITEMS = {
  README: numbered("J", [1, 5]),
  v1: numbered("V1", [1, 7], [10, 15], [20, 21], [30, 36], [40, 46], [50, 52], [60, 61]),
  v2: [
    ...numbered("V2", [1, 3], [10, 16], [20, 25], [30, 35], [40, 40], [50, 56], [60, 60]),
    ...numbered("V2", [70, 78], [80, 83], [90, 92], [100, 104]),
  ],
  "v3-draft-2019": [
    ...numbered("D19", [1, 3], [10, 16], [20, 25], [30, 33], [40, 44], [50, 55], [60, 67]),
    ...numbered("D19", [70, 78], [80, 84], [90, 90]),
  ],
  "v3-final": numbered("V3", [1, 5], [10, 26], [30, 33], [40, 48], [50, 58], [60, 61]),
  "zep0007-strings": numbered("S7", [1, 5], [10, 16], [20, 25], [30, 34], [40, 41], [50, 51], [60, 60]),
} as const;

/**
 * What an item of a specification asks for: `act` gives `expected`, or fails as a `Refusal` says. A store stands for its
 * keys, and the content of a store, in place of a call, for the items of its root array.
 */
export type Row = readonly [id: string, what: string, expected: unknown, act: (() => unknown) | Content];

export function row(...row: Row): Row {
  return row;
}

/** An error of `code` whose details contain these. */
export class Refusal {
  readonly code: ErrorCode;
  readonly details: object;

  constructor(code: ErrorCode, details: object) {
    this.code = code;
    this.details = details;
  }
}

/** What a row expects where it is refused; a string is the JSON pointer. */
export function refused(code: ErrorCode, details: object | string = {}): Refusal {
  return new Refusal(code, typeof details === "string" ? { pointer: details } : details);
}

/** Runs rows as tests, each by the number of its item. */
export function testRows(rows: readonly Row[]): void {
  it.each(rows)("%s: %s", async (_id, _what, expected, act) => {
    const acted = () => (typeof act === "function" ? act() : valuesIn(act));
    if (expected instanceof Refusal) {
      const { code, details } = await failureOf(acted);
      const named = Object.keys(expected.details) as (keyof typeof details)[];
      const found = Object.fromEntries(named.map((name) => [name, details[name]]));
      const text = `${code} ${JSON.stringify(found)}`;
      expect(text, text).toBe(`${expected.code} ${JSON.stringify(expected.details)}`);
    } else {
      const found = await acted();
      expect(found instanceof MemoryStore ? await sortedKeys(found) : found).toEqual(expected);
    }
  });
}

/** The same, and that each of `items` has a row, or a reason why it cannot; and that nothing else has. */
export function testItems(
  items: readonly string[],
  rows: readonly Row[],
  untestable: Readonly<Record<string, string>> = {},
): void {
  testRows(rows);

  it("every item of the page has a row, and every row an item", () => {
    const covered = new Set([...rows.map(([id]) => id), ...Object.keys(untestable)]);
    expect([...covered].sort()).toEqual([...items].sort());
  });
}

/** The error that `act` ends with. */
export async function failureOf(act: () => unknown): Promise<ZarrflowError> {
  try {
    await act();
  } catch (error) {
    if (isZarrflowError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
