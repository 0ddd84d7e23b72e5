import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../", import.meta.url));

/** The built package; `ZARRFLOW_DIST` may name the folder of another build. */
export const dist = resolve(process.env.ZARRFLOW_DIST ?? join(root, "dist"));

/** The command as it is shipped. */
export const command = join(dist, "cli/main.js");

/**
 * Tests of the package as it is shipped run `dist/`, which `npm test` builds first.
 *
 * @throws when it is missing or older than the sources.
 */
export function requireBuild(): void {
  const built = statSync(command, { throwIfNoEntry: false });
  const newest = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .reduce((latest, name) => Math.max(latest, statSync(join(root, "src", name)).mtimeMs), 0);
  if (!built || built.mtimeMs < newest) throw new Error("dist/ is missing or old: run `npm run build` first");
}
