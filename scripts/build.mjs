// Makes the kernels, then dist/: declarations with tsc, scripts with rolldown. Needs only npm packages.
// With `--scripts`, skips the declarations, which take most of the time.
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import "./build-kernels.mjs";
import "./build-page.mjs";
import { bundle } from "./bundle.mjs";
import { makeManPage } from "./man-page.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

rmSync(join(root, "dist"), { recursive: true, force: true });
if (!process.argv.includes("--scripts")) {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const options = ["-p", join(root, "tsconfig.build.json"), "--emitDeclarationOnly"];
  const { status } = spawnSync(process.execPath, [tsc, ...options], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  const { rollUpDeclarations } = await import("./declarations.mjs");
  rollUpDeclarations();
}
await bundle();
chmodSync(join(root, "dist/cli/main.js"), 0o755);
makeManPage(root);
