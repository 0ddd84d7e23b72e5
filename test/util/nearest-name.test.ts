import { expect, it } from "vitest";
import { nearestName } from "../../src/util/nearest-name.ts";

const commands = [
  "info",
  "tree",
  "copy",
  "rechunk",
  "convert",
  "slice",
  "digest",
  "diff",
  "validate",
  "help",
];

it.each([
  ["inof", "info"],
  ["cpoy", "copy"],
  ["recunk", "rechunk"],
  ["rechunck", "rechunk"],
  ["Copy", "copy"],
  ["val", "validate"],
  ["dif", "diff"],
])("finds what %s was meant to be", (name, meant) => {
  expect(nearestName(name, commands)).toBe(meant);
});

it.each(["nope", "r", "ls", "xyz", "move", "frobnicate", ""])("guesses nothing for %s", (name) => {
  expect(nearestName(name, commands)).toBeUndefined();
});
