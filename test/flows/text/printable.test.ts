import { expect, it } from "vitest";
import { printable } from "../../../src/flows/text/printable.ts";

it("escapes what acts on a terminal or turns the direction of writing, and nothing else", () => {
  expect(printable("t2m é 温度 😀")).toBe("t2m é 温度 😀");
  expect(printable("\u001b[31m\r\n\u0085\u202e\u2028\ud800")).toBe(
    "\\u{1b}[31m\\u{d}\\u{a}\\u{85}\\u{202e}\\u{2028}\\u{d800}",
  );
});
