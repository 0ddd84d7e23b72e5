// @module-tag slow
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../built-package.ts";

const siblings = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".browser.ts"))
  .map((name) => join(root, "src", name));

test("what stands for a module of Node in browsers exports the same names", async () => {
  expect(siblings.length).toBeGreaterThan(0);
  const seen: string[] = [];
  for (const path of siblings) {
    const node = path.replace(/\.browser\.ts$/, ".node.ts");
    expect(existsSync(node)).toBe(true);
    const names = Object.keys(await import(path)).sort();
    expect(names).toEqual(Object.keys(await import(node)).sort());
    seen.push(...names);
  }
  // one file of a build exports all of them
  expect(new Set(seen).size).toBe(seen.length);
});

/** A hint as it stands in the source, what is put into it as `…`. */
interface Hint {
  readonly file: string;
  readonly text: string;
}

const hints = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.includes("assembly"))
  .flatMap((name) => hintsOf(join("src", name)));

test("hints are whole sentences, from a capital letter to a full stop or a question mark", () => {
  expect(hints.length).toBeGreaterThan(150);
  expect(hints.filter(({ text }) => !/^[A-Z].*[.?]$/s.test(text))).toEqual([]);
});

/** All hints of a file: what is assigned to `hint`, through variables, parameters and functions of the file. */
function hintsOf(file: string): Hint[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node) => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  const initial = nodes.flatMap((node) => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === "hint") return [node.initializer];
    return ts.isShorthandPropertyAssignment(node) && node.name.text === "hint" ? [node.name] : [];
  });
  const seen = new Set<ts.Node>();
  return initial.flatMap((node) => textsOf(node)).map((text) => ({ file, text }));

  function textsOf(node: ts.Expression): string[] {
    if (seen.has(node)) return [];
    seen.add(node);
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isTemplateExpression(node)) {
      return [
        node.head.text +
          node.templateSpans
            .map(({ expression, literal }) => `${constantOf(expression)}${literal.text}`)
            .join(""),
      ];
    }
    if (ts.isParenthesizedExpression(node) || ts.isAwaitExpression(node)) return textsOf(node.expression);
    if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(textsOf);
    if (ts.isBinaryExpression(node)) {
      const isChoice = node.operatorToken.kind !== ts.SyntaxKind.AmpersandAmpersandToken;
      return [...(isChoice ? [node.left] : []), node.right].flatMap(textsOf);
    }
    if (ts.isIdentifier(node)) return valuesOf(node.text).flatMap(textsOf);
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      return returnsOf(node.expression.text).flatMap(textsOf);
    }
    return [];
  }

  /** The text of a constant of the file, or `…` for what differs from hint to hint. */
  function constantOf(node: ts.Expression): string {
    const [value] = ts.isIdentifier(node) && node.text === node.text.toUpperCase() ? valuesOf(node.text) : [];
    return value && ts.isStringLiteralLike(value) ? value.text : "…";
  }

  /** What a variable is made from, and what is passed for a parameter of this name. */
  function valuesOf(name: string): ts.Expression[] {
    return nodes.flatMap((node) => {
      if (ts.isVariableDeclaration(node) && node.name.getText() === name) {
        return node.initializer ? [node.initializer] : [];
      }
      if (!ts.isParameter(node) || node.name.getText() !== name || !ts.isFunctionDeclaration(node.parent))
        return [];
      const at = node.parent.parameters.indexOf(node);
      return [...(node.initializer ? [node.initializer] : []), ...passedTo(node.parent.name?.text, at)];
    });
  }

  function passedTo(name: string | undefined, at: number): ts.Expression[] {
    return nodes.flatMap((node) => {
      if (!ts.isCallExpression(node) || node.expression.getText() !== name) return [];
      const argument = node.arguments[at];
      return argument ? [argument] : [];
    });
  }

  function returnsOf(name: string): ts.Expression[] {
    const declared = nodes.find((node) => ts.isFunctionDeclaration(node) && node.name?.text === name);
    const isInside = (node: ts.Node) =>
      declared !== undefined && node.pos >= declared.pos && node.end <= declared.end;
    return nodes.flatMap((node) =>
      ts.isReturnStatement(node) && node.expression && isInside(node) ? [node.expression] : [],
    );
  }
}
