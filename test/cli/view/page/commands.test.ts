import { describe, expect, it } from "vitest";
import { sliceEquivalent } from "../../../../src/cli/view/page/commands.ts";
import type { Shown } from "../../../../src/cli/view/page/shown.ts";
import { ordinal } from "../../../../src/cli/view/page/words.ts";

const level = { path: "t", shape: [5000, 4], chunkShape: [100, 4], itemSize: 2 };
const shown = (isDecoded: boolean): Shown => ({
  levels: [level],
  names: ["time", "x"],
  areNamed: true,
  axisUnits: [undefined, undefined],
  units: "",
  title: "",
  isDecoded,
  channel: -1,
  first: {},
});

describe("the command of what the page shows", () => {
  const cut = (start: number, count: number) => ({ start, step: 1, count });

  it("decodes where the page does, and marks indices that may be years", () => {
    const commandOf = (isDecoded: boolean, cuts: Parameters<typeof sliceEquivalent>[2], dropped: number[]) =>
      sliceEquivalent("Series", { base: "g.zarr", shown: shown(isDecoded), level }, cuts, dropped).command;
    expect(commandOf(true, [cut(2016, 1), cut(0, 4)], [0])).toBe(
      "zarrflow slice g.zarr/t --slice time=@2016 --decode --format npy --output part.npy",
    );
    expect(commandOf(false, [cut(900, 200), cut(1, 1)], [1])).toBe(
      "zarrflow slice g.zarr/t --slice time=@900:1100,x=1 --format npy --output part.npy",
    );
    expect(commandOf(false, [cut(0, 5000), cut(0, 4)], [])).toBe(
      "zarrflow slice g.zarr/t --format npy --output part.npy",
    );
  });
});

describe("ordinal", () => {
  it("ends as it is said", () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 1013].map(ordinal)).toEqual([
      "1st",
      "2nd",
      "3rd",
      "4th",
      "11th",
      "12th",
      "13th",
      "21st",
      "102nd",
      "111th",
      "1,013th",
    ]);
  });
});
