import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { requireBuild, root } from "../built-package.ts";

const run = promisify(execFile);

/** Makes a project that has installed what `npm pack` makes of the built package, and its dependencies. */
export async function packedProject(): Promise<string> {
  requireBuild();
  const project = await mkdtemp(join(tmpdir(), "zarrflow-packed-"));
  const installed = join(project, "node_modules/zarrflow");
  await mkdir(installed, { recursive: true });
  await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", project], { cwd: root });
  const [tarball = ""] = (await readdir(project)).filter((name) => name.endsWith(".tgz"));
  await run("tar", ["xzf", join(project, tarball), "-C", installed, "--strip-components=1"]);
  await linkDependencies(installed, project);
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
  return project;
}

/** What a package depends on, and what that depends on, beside each other. */
async function linkDependencies(folder: string, project: string): Promise<void> {
  const { dependencies = {} } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const path = join(project, "node_modules", name);
    if (existsSync(path)) continue;
    await mkdir(dirname(path), { recursive: true });
    await symlink(join(root, "node_modules", name), path);
    await linkDependencies(path, project);
  }
}
