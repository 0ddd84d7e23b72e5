import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../", import.meta.url));

/** The command as it is shipped. */
export const command = join(root, "dist/cli/main.js");

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

/**
 * Runs the command as it is shipped. Returns what it wrote to standard output.
 *
 * @throws when it exits with another code than 0, with what it wrote to standard error.
 */
export async function zarrflow(...args: readonly string[]): Promise<Buffer> {
  requireBuild();
  const options = { encoding: "buffer", maxBuffer: 2 ** 28 } as const;
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args], options);
  return stdout;
}
