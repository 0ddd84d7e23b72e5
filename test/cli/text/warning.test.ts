import { expect, it } from "vitest";
import { warningText } from "../../../src/cli/text/warning.ts";

it("says a warning in one line, with what a name hides made visible", () => {
  expect(warningText({ message: "odd" })).toBe("warning: odd");
  expect(warningText({ message: "odd", key: "a\u001b[2Jb", hint: "Look." })).toMatch(
    /^warning: odd \(key a\S+b\)\. Look\.$/,
  );
  expect(warningText({ message: "`threads` has no effect: it is so", hint: "Omit it." })).toBe(
    "warning: --threads has no effect: it is so. Omit it.",
  );
  expect(warningText({ message: "`maxMemory` (--max-mem) has no effect: it is so" })).toBe(
    "warning: --max-mem has no effect: it is so",
  );
  expect(warningText({ message: "odd", key: "a\u001b[2Jb" })).not.toContain("\u001b");
});
