import { expect, it } from "vitest";
import { columns, formatDuration, printable } from "../../../src/flows/text/format.ts";
import { counted, grouped } from "../../../src/util/names.ts";

it("columns stand below each other, without spaces at the end", () => {
  const rows = ["a,bcd,e", "fgh,,"].map((row) => row.split(","));
  expect(columns(rows)).toBe("  a    bcd  e\n  fgh");
  expect(columns(rows, 0)).toBe("a    bcd  e\nfgh");
});

it("numbers have their thousands apart, and nouns the plural but for one", () => {
  expect([0, 999, 1000, 1234567].map(grouped)).toEqual(["0", "999", "1,000", "1,234,567"]);
  expect([0, 1, 2048].map((n) => counted(n, "chunk"))).toEqual(["0 chunks", "1 chunk", "2,048 chunks"]);
});

it("durations are said in two units at most", () => {
  const said = [0.04, 9.94, 9.96, 59.4, 59.6, 200, 3600 + 5 * 60 + 10].map(formatDuration).join(", ");
  expect(said).toBe("0.0 s, 9.9 s, 10 s, 59 s, 1 min 00 s, 3 min 20 s, 1 h 05 min");
});

it("what acts on a terminal or turns the direction of writing is escaped, and nothing else", () => {
  expect(printable("t2m é 温度 😀")).toBe("t2m é 温度 😀");
  expect(printable("\u001b[31m\r\n\u0085\u202e\u2028\ud800")).toBe(
    "\\u{1b}[31m\\u{d}\\u{a}\\u{85}\\u{202e}\\u{2028}\\u{d800}",
  );
});
