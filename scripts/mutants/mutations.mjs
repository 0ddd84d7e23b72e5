// The changes that make a mutant of a source file: another operator, literal or condition, or a removed statement.
import { readFileSync } from "node:fs";
import ts from "typescript";

const OPERATORS = new Map(
  Object.entries({
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "===": "!==",
    "!==": "===",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "*",
    "&&": "||",
    "||": "&&",
    "??": "&&",
    "&": "|",
    "|": "&",
    "<<": ">>",
    ">>": "<<",
    "+=": "-=",
    "-=": "+=",
  }),
);

/**
 * All single changes of a file: `text` replaces the characters from `start` to `end`, in the function `name` (undefined
 * at the top of a module).
 */
export function mutationsOf(path) {
  const source = readFileSync(path, "utf8");
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const found = [];

  const visit = (node, name) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    const inside = nameOf(node) ?? name;
    const add = (of, text) => {
      const [start, end] = [of.getStart(file), of.getEnd()];
      const { line } = file.getLineAndCharacterOfPosition(start);
      found.push({ path, line: line + 1, start, end, was: source.slice(start, end), text, name: inside });
    };
    if (ts.isBinaryExpression(node)) {
      const other = OPERATORS.get(node.operatorToken.getText(file));
      if (
        other &&
        !isUnreachable(node.right) &&
        !ts.isStringLiteralLike(node.left) &&
        !ts.isStringLiteralLike(node.right)
      )
        add(node.operatorToken, other);
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      add(node, `(${node.operand.getText(file)})`);
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, "false");
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, "true");
    else if (ts.isNumericLiteral(node) && !isUnreachable(node)) add(node, String(Number(node.text) + 1));
    else if (ts.isIfStatement(node)) {
      add(node.expression, "true");
      add(node.expression, "false");
    } else if (ts.isConditionalExpression(node)) add(node.condition, "true");
    else if (ts.isExpressionStatement(node) || ts.isThrowStatement(node) || ts.isContinueStatement(node))
      add(node, ";");
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(file, undefined);
  return found;
}

/** True for the default in `sizes[d] ?? 1`, which no index can reach. */
function isUnreachable(node) {
  const { parent } = node;
  const isRight = ts.isBinaryExpression(parent) && parent.right === node && ts.isNumericLiteral(node);
  return (
    isRight &&
    parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken &&
    ts.isElementAccessExpression(parent.left)
  );
}

/** The name of a function in the engine's counts of calls. */
function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return node.parent.name?.text;
  if (!ts.isFunctionLike(node)) return undefined;
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  if (!named || !("text" in named)) return undefined;
  const prefix = ts.isGetAccessor(node) ? "get " : ts.isSetAccessor(node) ? "set " : "";
  return prefix + named.text;
}
