// Leaves out of dist/ the declarations of modules that no entry point's types lead to, and makes the others compile
// where a program has neither the types of the DOM nor those of Node.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

export function removeUnreadDeclarations() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap(({ types }) => (types ? [join(root, types)] : []));
  const read = declarationsFrom(entries);
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    const path = join(dist, name);
    if (name.endsWith(".d.ts") && !read.has(path)) rmSync(path);
  }
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
