// Bundles the page of this folder: node examples/browser/build.mjs FOLDER; any web server can serve the result.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const [, , target = join(here, "dist")] = process.argv;

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Replaces Node modules by their browser versions. */
const platform = {
  name: "platform",
  resolveId(id, importer) {
    const path = importer && id.endsWith(".node.ts") ? resolve(dirname(importer), id) : undefined;
    const sibling = path?.replace(/\.node\.ts$/, ".browser.ts");
    return sibling && existsSync(sibling) ? sibling : undefined;
  },
  load(id) {
    if (!id.endsWith("package-version.node.ts")) return undefined;
    return `export const packageVersion = () => ${JSON.stringify(version)};`;
  },
};
await build({
  input: join(here, "main.ts"),
  platform: "browser",
  plugins: [platform],
  transform: { define: { VERSION: JSON.stringify(version) } },
  output: {
    dir: target,
    entryFileNames: "page.js",
    chunkFileNames: "parts/[name]-[hash].js",
    format: "esm",
    minify: true,
  },
});
mkdirSync(target, { recursive: true });
writeFileSync(join(target, "index.html"), readFileSync(join(here, "index.html")));
const style = ["../../src/cli/view/page/page.css", "page.css"].map((name) =>
  readFileSync(join(here, name), "utf8"),
);
writeFileSync(join(target, "page.css"), style.join("\n"));
