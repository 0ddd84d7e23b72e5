import { describe, expect, it } from "vitest";
import { columns } from "../../../src/flows/text/columns.ts";

describe("columns", () => {
  it("stand below each other, without spaces at the end", () => {
    const rows = [
      ["a", "bcd", "e"],
      ["fgh", "", ""],
    ];
    expect(columns(rows)).toBe("  a    bcd  e\n  fgh");
    expect(columns(rows, 0)).toBe("a    bcd  e\nfgh");
  });
});
