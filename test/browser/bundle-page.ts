import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { requireBuild } from "../built-package.ts";

/** Bundles a module of `pages`, which imports the built package as a program does, into one script for a page. */
export async function bundlePage(name: string): Promise<string> {
  requireBuild();
  const { output } = await build({
    input: fileURLToPath(new URL(`pages/${name}`, import.meta.url)),
    platform: "browser",
    tsconfig: false,
    // `sideEffects` of this package holds for the modules of `dist`
    treeshake: { moduleSideEffects: [{ test: /[/]test[/]browser[/]pages[/]/, sideEffects: true }] },
    write: false,
    output: { format: "esm", codeSplitting: false },
  });
  return output[0].code;
}
