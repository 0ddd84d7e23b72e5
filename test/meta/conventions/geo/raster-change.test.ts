import { describe, expect, it } from "vitest";
import type { ArrayMetadata } from "../../../../src/meta/array-metadata.ts";
import { rasterAxes } from "../../../../src/meta/conventions/geo/raster-change.ts";

const array = (shape: readonly number[], dimensionNames?: readonly (string | null)[]) =>
  ({ shape, ...(dimensionNames && { dimensionNames }) }) as ArrayMetadata;

describe("the axes of a raster", () => {
  it.each([
    ["named by its convention", array([3, 4, 5], ["v", "u", "t"]), ["u", "v"], [1, 0]],
    ["not among the names", array([3, 4, 5], ["v", "u", "t"]), ["u", "w"], undefined],
    ["of usual names", array([3, 4, 5], ["latitude", "lon", "time"]), undefined, [0, 1]],
    ["the last two without names", array([3, 4, 5]), undefined, [1, 2]],
    ["the last two without names that the convention gives", array([3, 4, 5]), ["u", "v"], [1, 2]],
    ["the last two of unusual names", array([3, 4], ["a", null]), undefined, [0, 1]],
    ["none of one dimension", array([3], ["x"]), undefined, undefined],
  ] as const)("are %s", (_, metadata, named, expected) => {
    expect(rasterAxes(metadata, named)).toEqual(expected);
  });
});
