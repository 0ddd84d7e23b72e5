import { describe, expect, it } from "vitest";
import { ledgerLine, parseLedgerLine } from "../../src/run/ledger.ts";

/** Lines of each kind, and values of their members that make them unusable. */
const LINES: readonly (readonly [string, object, Readonly<Record<string, readonly unknown[]>>])[] = [
  [
    "a key",
    { key: "t/c/0", size: 4, task: 2, crc32: 7 },
    { key: [1, null], size: ["4", -1, 0.5], task: ["2", -1], crc32: ["7", -1, {}] },
  ],
  ["a session", { session: { id: "1" } }, { session: [1, "1", null] }],
  ["a scratch object", { scratch: { kind: "folder" } }, { scratch: [1, null, {}] }],
  ["the end", { end: 3, keys: 4 }, { end: ["3", -1], keys: ["4", -1] }],
];

describe.each(LINES)("a ledger's line of %s", (_, line, others) => {
  const parsed = (changed: object) => parseLedgerLine(JSON.stringify({ ...line, ...changed }));

  it("is parsed as it was written", () => {
    expect(parsed({})).toEqual(line);
    expect(parseLedgerLine(ledgerLine(line as never))).toEqual(line);
    expect(parseLedgerLine(JSON.stringify(line).slice(0, -1))).toBeUndefined();
    expect(parseLedgerLine(`[${JSON.stringify(line)}]`)).toBeUndefined();
  });

  it("is unusable with other values", () => {
    for (const [name, values] of Object.entries(others)) {
      for (const value of values)
        expect([name, value, parsed({ [name]: value })]).toEqual([name, value, undefined]);
    }
  });
});
