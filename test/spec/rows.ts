import { expect, it } from "vitest";
import { type ErrorCode, isZarrflowError, type ZarrflowError } from "../../src/index.ts";

/** What an item of a specification asks for: `act` gives `expected`, or fails as a `Refusal` says. */
export type Row = readonly [id: string, what: string, act: () => unknown, expected: unknown];

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
  it.each(rows)("%s: %s", async (_id, _what, act, expected) => {
    if (expected instanceof Refusal) {
      const { code, details } = await failureOf(act);
      const named = Object.keys(expected.details) as (keyof typeof details)[];
      const found = Object.fromEntries(named.map((name) => [name, details[name]]));
      const text = `${code} ${JSON.stringify(found)}`;
      expect(text, text).toBe(`${expected.code} ${JSON.stringify(expected.details)}`);
    } else {
      expect(await act()).toEqual(expected);
    }
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
