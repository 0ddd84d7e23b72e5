// Leaves out of dist/ what nobody who installs the package reads: white space, the long names of local variables, and
// the declarations of modules that no entry point's types lead to. Names of functions and classes stay in stack traces.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { minifySync } from "rolldown/utils";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entries = Object.values(exports).flatMap(({ types }) => (types ? [join(root, types)] : []));
const read = declarationsFrom(entries);

for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  const path = join(dist, name);
  if (name.endsWith(".js")) minify(path);
  else if (name.endsWith(".d.ts") && !read.has(path)) rmSync(path);
}

function minify(path) {
  const options = {
    module: true,
    compress: false,
    mangle: { toplevel: false },
    codegen: { removeWhitespace: true },
  };
  const { code, errors } = minifySync(path, readFileSync(path, "utf8"), options);
  if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join(", ")}`);
  writeFileSync(path, code);
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
