// Compiles test/fuzz with everything that it imports, and runs it; see `npm run fuzz -- --help`.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import "./build-kernels.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const project = join(root, "test/fuzz/tsconfig.json");
const folder = join(root, "node_modules/.cache/zarrflow-fuzz");

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
const { status } = spawnSync(process.execPath, [tsc, "-p", project, "--outDir", folder], {
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);
cpSync(join(root, "test/fixtures"), join(folder, "test/fixtures"), { recursive: true });

const { fuzzCommand } = await import(pathToFileURL(join(folder, "test/fuzz/command.js")));
process.exitCode = await fuzzCommand(process.argv.slice(2));
