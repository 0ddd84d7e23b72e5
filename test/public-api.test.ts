import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "./built-package.ts";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The sources of what package.json exports. */
const entries = Object.values<string | { readonly types: string }>(manifest.exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry.types.replace("./dist/", "src/").replace(".d.ts", ".ts")],
);

/** The names that each entry point exports, types among them: whoever changes one changes this on purpose. */
test("the public names are the approved ones", () => {
  const program = ts.createProgram(
    entries.map((entry) => join(root, entry)),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      allowImportingTsExtensions: true,
      noEmit: true,
      types: [],
      skipLibCheck: true,
    },
  );
  const checker = program.getTypeChecker();
  const names = Object.fromEntries(
    entries.map((entry) => {
      const source = program.getSourceFile(join(root, entry));
      const symbol = source && checker.getSymbolAtLocation(source);
      const exported = symbol ? checker.getExportsOfModule(symbol).map(({ name }) => name) : [];
      return [entry, exported.sort()];
    }),
  );
  expect(names).toMatchSnapshot();
});
