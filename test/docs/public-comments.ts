import { relative } from "node:path";
import ts from "typescript";
import { root } from "../built-package.ts";
import { entryPoints, exportsOf } from "../support/public-names.ts";

/** A doc comment of a public name, or of a member of one, without its examples. */
export interface PublicComment {
  /** File and line. */
  readonly place: string;
  readonly text: string;
}

/** The doc comments of all that the package's entry points export, each once. */
export function publicComments(): PublicComment[] {
  const found = new Map<string, string>();
  for (const symbol of entryPoints.flatMap((entry) => [...exportsOf(entry).values()]))
    for (const declaration of symbol.declarations ?? []) collect(declaration, found);
  return [...found].map(([place, text]) => ({ place, text }));
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
