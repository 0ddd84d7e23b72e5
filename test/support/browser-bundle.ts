import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { type OutputChunk, rolldown } from "rolldown";
import { root } from "../built-package.ts";

/** Bundles modules of `src/`, by their names, with those of browsers in place of what Node alone has. */
export async function bundleForBrowsers(names: readonly string[]): Promise<OutputChunk[]> {
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, join(root, "src", `${name}.ts`)])),
    platform: "browser",
    external: /^node:/,
    logLevel: "silent",
    plugins: [
      {
        name: "platforms",
        resolveId(id, importer) {
          if (!importer || !id.endsWith(".node.ts")) return undefined;
          const path = resolve(dirname(importer), id.replace(/\.node\.ts$/, ".browser.ts"));
          return existsSync(path) ? path : undefined;
        },
      },
    ],
  });
  try {
    const { output } = await bundle.generate({ format: "esm" });
    return output.flatMap((file) => (file.type === "chunk" ? [file] : []));
  } finally {
    await bundle.close();
  }
}

/** The modules that a bundled entry loads at once, below `src/`. */
export function loadedAtOnce(chunks: readonly OutputChunk[], entry: string): string[] {
  const found = new Set<OutputChunk>();
  const left = chunks.filter(({ name, isEntry }) => isEntry && name === entry);
  for (let chunk = left.pop(); chunk; chunk = left.pop()) {
    if (found.has(chunk)) continue;
    found.add(chunk);
    const { imports } = chunk;
    left.push(...chunks.filter(({ fileName }) => imports.includes(fileName)));
  }
  return [...found].flatMap(({ moduleIds }) => moduleIds.map((id) => relative(join(root, "src"), id)));
}
