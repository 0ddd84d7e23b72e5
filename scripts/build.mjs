// Makes the kernels, then compiles src/ to dist/ with tsc; nothing but npm packages is needed.
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import "./build-kernels.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

rmSync(join(root, "dist"), { recursive: true, force: true });
// Comments stay where editors look for them, in the declarations, and are not shipped twice.
compile("--emitDeclarationOnly");
compile("--noCheck", "--declaration", "false", "--removeComments");
await import("./slim.mjs");
chmodSync(join(root, "dist/cli/main.js"), 0o755);

function compile(...options) {
  const project = join(root, "tsconfig.build.json");
  const { status } = spawnSync(process.execPath, [tsc, "-p", project, ...options], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
