// Leaves out of dist/ the declarations of modules that no entry point's types lead to.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
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
