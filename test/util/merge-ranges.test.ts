import { describe, expect, it } from "vitest";
import { mergeRanges } from "../../src/util/merge-ranges.ts";

const at = (offset: number, length: number) => ({ range: { offset, length } });
const read = (...args: Parameters<typeof mergeRanges>) =>
  mergeRanges(...args).map(({ offset, length, parts }) => [offset, length, parts.length]);

describe("mergeRanges", () => {
  it("merges what is near, in the order in which it lies, also where ranges overlap", () => {
    expect(read([at(70, 10), at(0, 30), at(20, 5), at(60, 5)], { mostBetween: 30 })).toEqual([[0, 80, 4]]);
    expect(read([at(70, 10), at(0, 30)], { mostBetween: 39 })).toHaveLength(2);
    expect(read([])).toEqual([]);
  });

  it("reads no more together than it may, but what was asked for alone", () => {
    expect(read([at(0, 100), at(100, 10), at(110, 10)], { mostTogether: 20 })).toEqual([
      [0, 100, 1],
      [100, 20, 2],
    ]);
    expect(
      read([at(0, 1), at(1, 1), at(2, 1)], { fits: (parts, length) => parts.length * length <= 4 }),
    ).toEqual([
      [0, 2, 2],
      [2, 1, 1],
    ]);
  });
});
