import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeFolder } from "../../../src/stores/directory/remove-folder.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const { next } = temporaryFolder();

test("removes a folder with all in it, and nothing that links in it lead to", async () => {
  const root = next();
  const folder = join(root, "old");
  await mkdir(join(folder, "a/b/c"), { recursive: true });
  await mkdir(join(root, "kept"), { recursive: true });
  await writeFile(join(root, "kept/file"), "kept");
  for (let i = 0; i < 50; i++) await writeFile(join(folder, "a/b", `${i}`), "x");
  await symlink(join(root, "kept"), join(folder, "a/link"));
  await symlink(join(root, "nowhere"), join(folder, "a/dangling"));
  await removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
  expect(await readFile(join(root, "kept/file"), "utf8")).toBe("kept");
});

test("removes a link itself, and nothing where it leads", async () => {
  const root = next();
  await mkdir(join(root, "kept"), { recursive: true });
  await writeFile(join(root, "kept/file"), "kept");
  await symlink(join(root, "kept"), join(root, "link"));
  await removeFolder(join(root, "link"));
  expect(existsSync(join(root, "link"))).toBe(false);
  expect(await readFile(join(root, "kept/file"), "utf8")).toBe("kept");
});

test("takes what is not there for removed", async () => {
  await removeFolder(next());
});
