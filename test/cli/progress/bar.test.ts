import { describe, expect, it } from "vitest";
import { drawBar } from "../../../src/cli/progress/bar.ts";

const text = "  42%  59 MB in  7.0 MB out  428/3,512 chunks  65 MB/s  6.9 s left";

describe("drawBar", () => {
  it.each([80, 100, 200])("fits into %i columns with its text", (columns) => {
    const line = drawBar(text, 0.42, columns);
    expect(line.length).toBeLessThan(columns);
    expect(line).toContain(text);
  });

  it("keeps its width while the text changes, and fills it", () => {
    expect(drawBar("", 0, 120)).toBe(`[${"-".repeat(30)}] `);
    expect(drawBar("abc", 0.5, 120)).toBe(`[${"#".repeat(15)}${"-".repeat(15)}] abc`);
    expect(drawBar("abcdef", 1, 120)).toBe(`[${"#".repeat(30)}] abcdef`);
  });

  it("is cut, and at last left out, where there is little room", () => {
    expect(drawBar(text, 0.42, 60)).toHaveLength(59);
    expect(drawBar(text, 0.42, 20)).toBe(text.trimStart().slice(0, 19));
  });

  it("is left out when nobody knows how much there is", () => {
    expect(drawBar("3 MB", undefined, 80)).toBe("3 MB");
  });
});
