import { readFile } from "node:fs/promises";
import { join } from "node:path";

type Target = string | { readonly [condition: string]: Target };

/** The conditions that a CDN picks for pages. */
const CONDITIONS = ["browser", "import", "module", "default"];

/**
 * What a CDN of npm packages answers: scripts of packages below `/node_modules/`, whose imports of other packages, and of
 * subpaths (`#...`), are URLs, by the conditions of browsers. Undefined for any other path.
 */
export function cdnOf(folder: string) {
  const packageOf = async (name: string) =>
    JSON.parse(await readFile(join(folder, "node_modules", name, "package.json"), "utf8"));

  async function urlOf(specifier: string, from: string): Promise<string> {
    const [, name = ""] = /^((?:@[^/]+\/)?[^/]+)/.exec(specifier.startsWith("#") ? from : specifier) ?? [];
    const { exports, imports, module, main } = await packageOf(name);
    const target = specifier.startsWith("#")
      ? imports[specifier]
      : (exports?.[`.${specifier.slice(name.length)}`] ?? exports ?? module ?? main);
    return `/${join("node_modules", name, picked(target))}`;
  }

  return async (path: string) => {
    const [, from] = /^\/node_modules\/(.*\.m?js)$/.exec(path) ?? [];
    if (from === undefined) return undefined;
    const body = await readFile(join(folder, path), "utf8");
    const bare = /((?:\bfrom|\bimport)\s*\(?\s*["'`])((?:#|@|[a-z])[^"'`:.]*)(?=["'`])/g;
    const found = [...new Set([...body.matchAll(bare)].map(([, , specifier = ""]) => specifier))];
    const urls = new Map(
      await Promise.all(
        found.map(async (name) => [name, await urlOf(name, from).catch(() => name)] as const),
      ),
    );
    const rewritten = body.replace(bare, (_, start, specifier) => start + urls.get(specifier));
    return { type: "text/javascript", body: rewritten };
  };
}

function picked(target: Target): string {
  if (typeof target === "string") return target;
  const name = Object.keys(target).find((condition) => CONDITIONS.includes(condition));
  return picked(target[name ?? ""] ?? "");
}
