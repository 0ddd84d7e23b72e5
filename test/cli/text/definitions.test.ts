import { describe, expect, it } from "vitest";
import { definitions } from "../../../src/cli/text/definitions.ts";

describe("definitions", () => {
  it("go on below themselves", () => {
    const rows = [
      ["--a", "one two three"],
      ["--long", "four"],
    ] as const;
    expect(definitions(rows, 18)).toBe("  --a     one two\n          three\n  --long  four");
  });
});
