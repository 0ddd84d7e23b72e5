import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import ts from "typescript";
import { root } from "../built-package.ts";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  strict: true,
  noEmit: true,
  // that of Pick, Omit and the like; what the others declare is of no use to names, and takes most of the time
  lib: ["lib.es5.d.ts"],
  types: [],
};

const host = ts.createCompilerHost(OPTIONS);
host.resolveModuleNameLiterals = (literals, from) => literals.map(({ text }) => moduleOf(text, from));

/** The sources of the package's entry points. */
export const entryPoints = Object.values<string | { readonly types: string }>(
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")).exports,
).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry.types.replace("./dist/", "src/").replace(".d.ts", ".ts")],
);

const program = ts.createProgram(
  entryPoints.map((name) => join(root, name)),
  OPTIONS,
  host,
);
export const checker = program.getTypeChecker();

/** Modules of packages are left out. */
function moduleOf(name: string, from: string): ts.ResolvedModuleWithFailedLookupLocations {
  if (!name.startsWith(".")) return { resolvedModule: undefined };
  return { resolvedModule: { resolvedFileName: resolve(dirname(from), name), extension: ts.Extension.Ts } };
}

/** A source, by its path in the repository. */
export function sourceFile(name: string): ts.SourceFile {
  const path = join(root, name);
  return (
    program.getSourceFile(path) ??
    ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest)
  );
}

/** What an entry point exports, by name. */
export function exportsOf(entry: string): ReadonlyMap<string, ts.Symbol> {
  const module = checker.getSymbolAtLocation(sourceFile(entry));
  return new Map(
    (module ? checker.getExportsOfModule(module) : []).map((symbol) => {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      return [symbol.name, isAlias ? checker.getAliasedSymbol(symbol) : symbol];
    }),
  );
}
