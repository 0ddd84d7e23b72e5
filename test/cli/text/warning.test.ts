import { expect, it } from "vitest";
import { warningText } from "../../../src/cli/text/warning.ts";

it("says a warning in one line, with what a name hides made visible", () => {
  expect(warningText({ message: "odd" })).toBe("warning: odd");
  expect(warningText({ message: "odd", key: "a\u001b[2Jb", hint: "look" })).toMatch(
    /^warning: odd \(key a\S+b\); look$/,
  );
  expect(warningText({ message: "odd", key: "a\u001b[2Jb" })).not.toContain("\u001b");
});
