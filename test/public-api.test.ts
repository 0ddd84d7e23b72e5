import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import * as all from "../src/index.ts";
import * as read from "../src/read.ts";
import { root } from "./built-package.ts";
import { avoidedIn } from "./docs/avoided-words.ts";
import { publicComments } from "./docs/public-comments.ts";
import { bundleForBrowsers, loadedAtOnce } from "./support/browser-bundle.ts";
import { checker, entryPoints, exportsOf, sourceFile } from "./support/public-names.ts";

/** The names that each entry point exports, types among them: whoever changes one changes this on purpose. */
test("the public names are the approved ones", () => {
  const names = entryPoints.map((entry) => [entry, [...exportsOf(entry).keys()].sort()]);
  expect(Object.fromEntries(names)).toMatchSnapshot();
});

/** What is rarely needed is in subpaths. */
const MOST = { values: 60, types: 90 };

test("the root exports the approved values and types, and no more than anybody can look over", async () => {
  const values = Object.keys(all).sort();
  const types = [...exportsOf("src/index.ts").keys()].filter((name) => !values.includes(name)).sort();
  const part = (what: keyof typeof MOST, names: readonly string[]) =>
    `${names.length} ${what}, of at most ${MOST[what]}:\n${names.map((name) => `  ${name}\n`).join("")}`;
  await expect(part("values", values) + part("types", types)).toMatchFileSnapshot("approved/root.txt");
  expect(values.length).toBeLessThanOrEqual(MOST.values);
  expect(types.length).toBeLessThanOrEqual(MOST.types);
});

/** `test/option-effects.test.ts` reads them. */
test("the options of each function are the approved ones", async () => {
  const lines = [...exportsOf("src/index.ts")].flatMap(([name, symbol]) => {
    const options = [...new Set(membersOf(symbol).map((member) => member.name))].sort();
    return options.length > 0 ? [`${name}: ${options.join(" ")}\n`] : [];
  });
  await expect(lines.sort().join("")).toMatchFileSnapshot("approved/options.txt");
});

test("every optional option takes undefined, as programs give it that pass options on", () => {
  const wrong = [...exportsOf("src/index.ts")].flatMap(([name, symbol]) =>
    membersOf(symbol).flatMap((member) => {
      const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0;
      const takes = (member.declarations ?? []).every(
        (one) => !ts.isPropertySignature(one) || /\bundefined$/.test(one.type?.getText() ?? "undefined"),
      );
      return isOptional && !takes ? [`${name}: ${member.name}`] : [];
    }),
  );
  expect(wrong).toEqual([]);
});

describe("words that are not used", () => {
  test("in texts of the library and the command", () => {
    const names = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
    const found = names
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) =>
        textsOf(`src/${name}`).flatMap((text) =>
          avoidedIn(text).map((word) => `src/${name}: ${word} in ${text}`),
        ),
      );
    expect(found).toEqual([]);
    expect(textsOf("src/util/glob.ts")).toContain("the glob is empty");
  });

  test("in doc comments of the public API", () => {
    const comments = publicComments();
    expect(comments.length).toBeGreaterThan(500);
    const found = comments.flatMap(({ place, text }) => avoidedIn(text).map((word) => `${place}: ${word}`));
    expect(found).toEqual([]);
  });
});

/** What flows need that write, and stores that a page of HTTP does not open. */
const NOT_FOR_READING = [
  /^stores\/(s3|zip)/,
  /^(plan|targets)\//,
  /^run\/(?!slabs\/|scratch\/scratch\.)/,
  /pyramid/,
  /^hierarchy\/(create|write|edit)\//,
  /\.node\.ts$/,
];

test("the entry point for reading loads at once nothing that writes, plans, or opens other stores", async () => {
  const modules = loadedAtOnce(await bundleForBrowsers(["read"]), "read");
  expect(modules).toContain("flows/slice.ts");
  expect(all).toMatchObject(read);
  expect(modules.filter((name) => NOT_FOR_READING.some((pattern) => pattern.test(name)))).toEqual([]);
});

/** The options of a function, as its declarations have them. */
function membersOf(symbol: ts.Symbol): ts.Symbol[] {
  if (!(symbol.flags & ts.SymbolFlags.Function) || !symbol.valueDeclaration) return [];
  const members: ts.Symbol[] = [];
  for (const signature of checker.getTypeOfSymbol(symbol).getCallSignatures()) {
    for (const parameter of signature.getParameters()) {
      if (!/^(options|given)$/.test(parameter.name) || !parameter.valueDeclaration) continue;
      const type = checker.getNonNullableType(
        checker.getTypeOfSymbolAtLocation(parameter, parameter.valueDeclaration),
      );
      for (const one of type.isUnion() ? type.types : [type]) members.push(...one.getProperties());
    }
  }
  return members;
}

/** The text of every string and template of a file that has more than one word. */
function textsOf(name: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node)) {
      texts.push(node.head.text + node.templateSpans.map(({ literal }) => `...${literal.text}`).join(""));
    }
    ts.forEachChild(node, visit);
  };
  visit(sourceFile(name));
  return texts.filter((text) => /\p{L} +\p{L}/u.test(text));
}
