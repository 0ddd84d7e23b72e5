import { describe, expect, test } from "vitest";
import { avoidedIn } from "./avoided-words.ts";
import { documents, read } from "./code-block.ts";

/** Where readers of the English of this table have to find its words. */
const LIST = /\n## Words\n[\s\S]*/;

describe("words that are not used", () => {
  const pages = documents().flatMap(({ name }) => (name.endsWith(".md") ? [name] : []));
  test.each(pages)("in %s", (name) => {
    const prose = read(name)
      .replace(LIST, "")
      .replace(/```.*?```/gs, "")
      .replace(/`[^`\n]*`/g, "");
    expect(avoidedIn(prose)).toEqual([]);
  });

  test("are found where they are", () => {
    expect(avoidedIn("It tells the size anew.")).toEqual(["tells", "anew"]);
  });
});
