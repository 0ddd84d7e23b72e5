import { describe, expect, it } from "vitest";
import { counted, grouped } from "../../../src/cli/text/count.ts";

describe("grouped and counted", () => {
  it("put thousands apart", () => {
    expect([0, 999, 1000, 1234567].map(grouped)).toEqual(["0", "999", "1,000", "1,234,567"]);
  });

  it("take the plural but for one", () => {
    expect([0, 1, 2048].map((n) => counted(n, "chunk"))).toEqual(["0 chunks", "1 chunk", "2,048 chunks"]);
  });
});
