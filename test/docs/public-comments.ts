import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { root } from "../built-package.ts";

/** A doc comment of a public name, or of a member of one, without its examples. */
export interface PublicComment {
  /** File and line. */
  readonly place: string;
  readonly text: string;
}

/** The doc comments of all that the package's entry points export, each once. */
export function publicComments(): PublicComment[] {
  const entries = entryPoints();
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram(entries, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const found = new Map<string, string>();
  for (const entry of entries) {
    const file = program.getSourceFile(entry);
    const module = file && checker.getSymbolAtLocation(file);
    for (const exported of module ? checker.getExportsOfModule(module) : []) {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      for (const declaration of symbol.declarations ?? []) collect(declaration, found);
    }
  }
  return [...found].map(([place, text]) => ({ place, text }));
}

function entryPoints(): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.values<{ default?: string }>(exports).flatMap(({ default: path = "" }) => {
    const [, name] = /dist\/(.*)\.js$/.exec(path) ?? [];
    return name === undefined ? [] : [join(root, `src/${name}.ts`)];
  });
}

function collect(node: ts.Node, found: Map<string, string>): void {
  for (const comment of ts.getJSDocCommentsAndTags(node)) {
    if (!ts.isJSDoc(comment)) continue;
    const file = comment.getSourceFile();
    const { line } = file.getLineAndCharacterOfPosition(comment.getStart());
    const text = comment.getText().replace(/```.*?```/gs, "");
    found.set(`${relative(root, file.fileName)}:${line + 1}`, text.replace(/`[^`\n]*`/g, ""));
  }
  if (ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node) || ts.isClassDeclaration(node)) {
    for (const member of node.members) if (!isPrivate(member)) collect(member, found);
  } else if (ts.isTypeAliasDeclaration(node)) ts.forEachChild(node, (child) => collect(child, found));
}

function isPrivate({ name }: ts.Node & { readonly name?: ts.Node | undefined }): boolean {
  return name !== undefined && ts.isPrivateIdentifier(name);
}
