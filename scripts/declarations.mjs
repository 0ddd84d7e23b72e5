// Leaves out of dist/ the declarations that no entry point's types lead to, and the comments that no editor shows; makes
// the others compile where a program has neither the types of the DOM nor those of Node.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

export function removeUnreadDeclarations() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap(({ types }) => (types ? [join(root, types)] : []));
  const program = ts.createProgram(entries, {
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.esnext.d.ts"],
    types: [],
  });
  const checker = program.getTypeChecker();
  const exported = entries.flatMap((path) =>
    checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(path))),
  );
  const read = statementsFrom(exported, symbolsIn, checker);
  const shown = statementsFrom(exported, symbolsOfMembers, checker);
  for (const file of program.getSourceFiles()) {
    if (file.fileName.startsWith(dist)) writeFileSync(file.fileName, withOnly(read, shown, file, checker));
  }
  const left = declarationsFrom(entries);
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    const path = join(dist, name);
    if (name.endsWith(".d.ts") && !left.has(path)) rmSync(path);
  }
}

/** The statements that declare `symbols`, what these name as `symbolsOf` finds it, and so on. */
function statementsFrom(symbols, symbolsOf, checker) {
  const found = new Set();
  const left = [...symbols];
  for (let symbol = left.pop(); symbol !== undefined; symbol = left.pop()) {
    for (const declaration of declarationsOf(symbol, checker)) {
      const statement = statementOf(declaration);
      if (found.has(statement) || !statement.getSourceFile().fileName.startsWith(dist)) continue;
      found.add(statement);
      left.push(...symbolsOf(statement, checker));
    }
  }
  return found;
}

function declarationsOf(symbol, checker) {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  return (isAlias ? checker.getAliasedSymbol(symbol) : symbol).declarations ?? [];
}

function statementOf(node) {
  return node.parent === undefined || ts.isSourceFile(node) || ts.isSourceFile(node.parent)
    ? node
    : statementOf(node.parent);
}

function symbolsIn(node, checker) {
  const found = [];
  const visit = (inner) => {
    const symbol = ts.isIdentifier(inner) && checker.getSymbolAtLocation(inner);
    if (symbol) found.push(symbol);
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return found;
}

/** What a statement has members of: what it extends, and what its type is made of. */
function symbolsOfMembers(statement, checker) {
  const parts = statement.heritageClauses ?? (ts.isTypeAliasDeclaration(statement) ? [statement.type] : []);
  return parts.flatMap((part) => symbolsIn(part, checker));
}

/** The text of a file with no other statements, and with the imports and exports that are still of use. */
function withOnly(statements, shown, file, checker) {
  const isNamed = (specifier) =>
    declarationsOf(checker.getSymbolAtLocation(specifier.name), checker).some((one) =>
      statements.has(statementOf(one)),
    );
  const kept = file.statements.filter((statement) => statements.has(statement));
  const named = new Set(kept.flatMap((statement) => identifiersIn(statement)));
  const texts = file.statements.map((statement) => {
    if (statements.has(statement)) {
      return shown.has(statement) ? statement.getFullText() : `\n${withoutComments(statement)}`;
    }
    const names = statement.importClause?.namedBindings ?? statement.exportClause;
    const isList = names && (ts.isNamedImports(names) || ts.isNamedExports(names));
    if (ts.isExportDeclaration(statement)) {
      return isList ? listed(statement, names, names.elements.filter(isNamed)) : statement.getFullText();
    }
    if (!ts.isImportDeclaration(statement)) return "";
    const isUsed = ({ name }) => named.has(name.text);
    return isList ? listed(statement, names, names.elements.filter(isUsed)) : statement.getFullText();
  });
  return `${texts
    .join("")
    .replace(/^(?: {4})+/gm, (indent) => "\t".repeat(indent.length / 4))
    .trimStart()}\n`;
}

/** The text of a statement without comments in it and before it, but for those that refer to libraries. */
function withoutComments(statement) {
  const { text } = statement.getSourceFile();
  const comments = new Map();
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      comments.set(pos, end);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(statement, visit);
  const references = text.slice(statement.getFullStart(), statement.getStart()).match(/^\/\/\/ <.*\n/gm);
  let kept = references?.join("") ?? "";
  let at = statement.getStart();
  for (const [pos, end] of [...comments].sort(([a], [b]) => a - b)) {
    if (pos < at) continue;
    kept += text.slice(at, pos).trimEnd();
    at = end;
  }
  return kept + text.slice(at, statement.getEnd());
}

function listed(statement, list, elements) {
  if (elements.length === 0) return "";
  const text = statement.getText();
  const from = list.getStart() - statement.getStart();
  const names = elements.map((element) => element.getText()).join(", ");
  return `\n${text.slice(0, from)}{ ${names} }${text.slice(from + list.getWidth())}`;
}

function identifiersIn(node) {
  const found = [];
  const visit = (inner) => {
    if (ts.isIdentifier(inner)) found.push(inner.text);
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return found;
}

/** Puts a reference to `util/globals.d.ts` into the declarations that name a type of it. */
export function referToGlobals() {
  const globals = join(dist, "util/globals.d.ts");
  copyFileSync(join(root, "src/util/globals.d.ts"), globals);
  const names = [...readFileSync(globals, "utf8").matchAll(/^interface (\w+)/gm)].map(([, name]) => name);
  const named = new RegExp(`\\b(?:${names.join("|")})\\b`);
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    const path = join(dist, name);
    if (!name.endsWith(".d.ts") || path === globals) continue;
    const text = readFileSync(path, "utf8");
    const to = relative(dirname(path), globals);
    if (named.test(text)) writeFileSync(path, `/// <reference path="${to}" />\n${text}`);
  }
}

/** The declarations that those at `paths` import, and so on. */
function declarationsFrom(paths) {
  const found = new Set();
  const left = [...paths];
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    for (const [, specifier] of readFileSync(path, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
      left.push(join(dirname(path), specifier.replace(/\.[jt]s$/, ".d.ts")));
    }
  }
  return found;
}
