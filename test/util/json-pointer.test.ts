import { expect, it } from "vitest";
import { pointerOf, pointerTo } from "../../src/util/json-pointer.ts";

it("escapes tilde and slash", () => {
  expect(pointerOf([])).toBe("");
  expect(pointerOf(["a/b", 0, "c~1", ""])).toBe("/a~1b/0/c~01/");
  expect(pointerTo("/x", 3)).toBe("/x/3");
});
