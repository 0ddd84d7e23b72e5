import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { root } from "../built-package.ts";
import { documents, read } from "./code-block.ts";
import { publicComments } from "./public-comments.ts";

/** Words of CONTRIBUTING.md's last column, and phrases that mean something else to a reader than to their writer. */
const AVOIDED = [
  /\bre-?cuts?\b/i,
  /\bsweeps?\b|\bswept\b/i,
  /\bdialects?\b/i,
  /\btells?\b|\btold\b|\btelling\b/i,
  /\banew\b/i,
  /\bby name\b/i,
  /\bfor now\b/i,
  /\bof ours\b|\bof yours\b|\bof a caller's\b|\bof the program's\b/i,
  /\bis none\b|\bare none\b/i,
  /\bhalf written\b/i,
  /\ba second at most\b/i,
  /\bsize of chunks?\b/i,
  /\bbehind\b/i,
  /\d [KM]b?\b(?!\/)/,
];

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

  test("in texts of the library and the command", () => {
    const found = sources().flatMap((name) =>
      textsOf(name).flatMap((text) => avoidedIn(text).map((word) => `${name}: ${word} in ${text}`)),
    );
    expect(found).toEqual([]);
  });

  test("in doc comments of the public API", () => {
    const comments = publicComments();
    expect(comments.length).toBeGreaterThan(500);
    const found = comments.flatMap(({ place, text }) => avoidedIn(text).map((word) => `${place}: ${word}`));
    expect(found).toEqual([]);
  });

  test("are found where they are", () => {
    expect(avoidedIn("It tells the size anew.")).toEqual(["tells", "anew"]);
    expect(textsOf("src/util/glob.ts")).toContain("a glob is empty");
  });
});

function avoidedIn(text: string): string[] {
  return AVOIDED.flatMap((word) => word.exec(text)?.[0] ?? []);
}

function sources(): string[] {
  const names = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).map((name) => `src/${name}`);
}

/** The text of every string and template of a file that has more than one word. */
function textsOf(name: string): string[] {
  const file = ts.createSourceFile(name, read(name), ts.ScriptTarget.Latest);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node)) {
      texts.push(node.head.text + node.templateSpans.map(({ literal }) => `...${literal.text}`).join(""));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts.filter((text) => /\p{L} +\p{L}/u.test(text));
}
