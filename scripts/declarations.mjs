// Puts all declarations that the types of the entry points need into one file, dist/types.d.ts, without the comments that
// no editor shows. Each entry re-exports its part of them. They compile without the types of the DOM and of Node.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const together = join(dist, "types.d.ts");
const globals = join(dist, "globals.d.ts");

export function rollUpDeclarations() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap(({ types }) => (types ? [join(root, types)] : []));
  const program = ts.createProgram(entries, {
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.esnext.d.ts"],
    types: [],
  });
  const checker = program.getTypeChecker();
  const files = entries.map((path) => program.getSourceFile(path));
  const exportsOf = (file) => checker.getExportsOfModule(checker.getSymbolAtLocation(file));
  const exported = files.flatMap(exportsOf);
  const read = statementsFrom(exported, symbolsIn, checker);
  const shown = statementsFrom(exported, symbolsOfMembers, checker);
  const statements = program
    .getSourceFiles()
    .flatMap((file) => file.statements)
    .filter((statement) => read.has(statement));
  const names = uniqueNames(statements, checker);
  const texts = statements.map((statement, i) =>
    textOf(statement, { isShown: shown.has(statement), isExported: i === 0, names, checker }),
  );
  const lists = files.map((file) => exportList(file, files, exportsOf, names, checker));
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".d.ts")) rmSync(join(dist, name));
  }
  const libraries = new Set(
    statements.flatMap((one) => one.getFullText().match(/^\/\/\/ <reference lib.*/gm) ?? []),
  );
  const head = [`/// <reference path="globals.d.ts" />`, ...libraries];
  writeFileSync(together, `${head.join("\n")}\n${texts.join("\n")}\n`);
  copyFileSync(join(root, "src/util/globals.d.ts"), globals);
  entries.forEach((path, i) => {
    writeFileSync(path, lists[i]);
  });
}

/** The statements that declare `symbols`, those that declare what these name (`symbolsOf`), and so on. */
function statementsFrom(symbols, symbolsOf, checker) {
  const found = new Set();
  const left = [...symbols];
  for (let symbol = left.pop(); symbol !== undefined; symbol = left.pop()) {
    for (const declaration of declarationsOf(symbol, checker)) {
      const statement = statementOf(declaration);
      if (found.has(statement) || !statement.getSourceFile().fileName.startsWith(dist)) continue;
      found.add(statement);
      if (literalsOf(statement, checker) === undefined) left.push(...symbolsOf(statement, checker));
    }
  }
  return found;
}

const meant = (symbol, checker) =>
  (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol;

const declarationsOf = (symbol, checker) => meant(symbol, checker).declarations ?? [];

function statementOf(node) {
  return node.parent === undefined || ts.isSourceFile(node) || ts.isSourceFile(node.parent)
    ? node
    : statementOf(node.parent);
}

function symbolsIn(node, checker) {
  return identifiersIn(node).flatMap((one) => checker.getSymbolAtLocation(one) ?? []);
}

function identifiersIn(node) {
  const found = [];
  const visit = (inner) => {
    if (ts.isIdentifier(inner)) found.push(inner);
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return found;
}

/** The types that a statement takes members from: those that it extends, and the parts of its own type. */
function symbolsOfMembers(statement, checker) {
  const parts = statement.heritageClauses ?? (ts.isTypeAliasDeclaration(statement) ? [statement.type] : []);
  return parts.flatMap((part) => symbolsIn(part, checker));
}

/** The expanded form of a type without parameters that consists of strings or numbers only. */
function literalsOf(statement, checker) {
  if (!ts.isTypeAliasDeclaration(statement) || statement.typeParameters) return undefined;
  const type = checker.getTypeAtLocation(statement.name);
  const types = type.isUnion() ? type.types : [type];
  if (!types.every((one) => one.isStringLiteral() || one.isNumberLiteral())) return undefined;
  return types.map((one) => JSON.stringify(one.value)).join(" | ");
}

/** The name of each symbol that a statement declares; the second of two equal names is changed. */
function uniqueNames(statements, checker) {
  const names = new Map();
  const taken = new Set();
  for (const symbol of statements.flatMap((statement) => declaredBy(statement, checker))) {
    if (names.has(symbol)) continue;
    let name = symbol.name;
    for (let i = 2; taken.has(name); i++) name = `${symbol.name}${i}`;
    taken.add(name);
    names.set(symbol, name);
  }
  return names;
}

function declaredBy(statement, checker) {
  const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
  return declared.map(({ name }) => checker.getSymbolAtLocation(name));
}

/** A statement with its new names, indented by tabs. A single exported one would make the file export all others. */
function textOf(statement, { isShown, isExported, names, checker }) {
  const literals = literalsOf(statement, checker);
  const replaced = identifiersIn(statement).flatMap((one) => {
    const symbol = checker.getSymbolAtLocation(one);
    const name = symbol && names.get(meant(symbol, checker));
    return name === undefined || name === one.text ? [] : [[one.getStart(), one.end, name]];
  });
  if (literals !== undefined) replaced.push([statement.type.getStart(), statement.type.end, literals]);
  const [comment] = isShown ? ts.getJSDocCommentsAndTags(statement).slice(-1) : [];
  const first = statement.modifiers?.find(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  const start = isExported || first === undefined ? statement.getStart() : first.end + 1;
  const removed = isShown ? [] : commentsIn(statement);
  const text = edited(statement.getSourceFile().text, start, statement.end, [...replaced, ...removed]);
  const tabbed = `${comment ? `${comment.getText()}\n` : ""}${text}`;
  return tabbed.replace(/^(?: {4})+/gm, (indent) => "\t".repeat(indent.length / 4));
}

/** The text from `start` to `end`, with each `[from, to, text]` replaced. */
function edited(text, start, end, changes) {
  let made = "";
  let at = start;
  for (const [from, to, other] of changes.sort(([a], [b]) => a - b)) {
    if (from < at) continue;
    made += text.slice(at, from) + other;
    at = to;
  }
  return made + text.slice(at, end);
}

/** Comments inside a statement, with the space before them, to remove. */
function commentsIn(statement) {
  const { text } = statement.getSourceFile();
  const found = new Map();
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      found.set(text.slice(0, pos).trimEnd().length, end);
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(statement, visit);
  return [...found].map(([pos, end]) => [pos, end, ""]);
}

/** The text of an entry: its exports. If it re-exports all of another entry, it names that entry. */
function exportList(file, files, exportsOf, names, checker) {
  const passed = file.statements
    .filter((one) => ts.isExportDeclaration(one) && !one.exportClause)
    .map((one) => checker.getSymbolAtLocation(one.moduleSpecifier).declarations[0])
    .filter((one) => files.includes(one));
  const others = new Set(passed.flatMap((one) => exportsOf(one)).map((symbol) => symbol.name));
  const from = (path) => {
    const specifier = relative(dirname(file.fileName), path).replace(/\.d\.ts$/, ".js");
    return JSON.stringify(specifier.startsWith(".") ? specifier : `./${specifier}`);
  };
  const lists = { export: [], "export type": [] };
  for (const symbol of exportsOf(file).filter(({ name }) => !others.has(name))) {
    const name = names.get(meant(symbol, checker));
    const list = lists[isOnlyType(symbol, checker) ? "export type" : "export"];
    list.push(name === symbol.name ? name : `${name} as ${symbol.name}`);
  }
  const comment = file.text.match(/^\s*(\/\*\*(?:(?!\*\/).)*@module\s.*?\*\/\n)/s)?.[1] ?? "";
  const lines = Object.entries(lists).flatMap(([how, list]) =>
    list.length === 0 ? [] : [`${how} { ${list.join(", ")} } from ${from(together)};`],
  );
  return `${comment}${[...passed.map((one) => `export * from ${from(one.fileName)};`), ...lines].join("\n")}\n`;
}

/** True if an export is a type, or is exported as a type only. */
function isOnlyType(symbol, checker) {
  if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return (symbol.flags & ts.SymbolFlags.Value) === 0;
  const [specifier] = symbol.declarations ?? [];
  const says = ts.isExportSpecifier(specifier) || ts.isImportSpecifier(specifier);
  const isType = says && (specifier.isTypeOnly || specifier.parent.parent.isTypeOnly);
  return isType || isOnlyType(checker.getImmediateAliasedSymbol(symbol), checker);
}
