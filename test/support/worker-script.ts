import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";
import { afterAll, beforeAll } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A script of worker threads, made of `src/` for the tests of one file, since threads cannot load TypeScript. */
export function workerScript(): () => URL {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "zarrflow-worker-"));
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await build({
      input: { worker: join(root, "src/run/threads/worker.ts") },
      platform: "node",
      external: [/^node:/],
      output: {
        dir: folder,
        format: "esm",
        entryFileNames: "[name].mjs",
        chunkFileNames: "[name]-[hash].mjs",
      },
    });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () => pathToFileURL(join(folder, "worker.mjs"));
}

/** Writes a script of workers to `path` that run `code` before they begin: it may replace what `fs` has. */
export async function scriptAfter(script: URL, path: string, code: string): Promise<URL> {
  const text = `import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    ${code}
    syncBuiltinESMExports();
    await import(${JSON.stringify(script.href)});`;
  await writeFile(path, text);
  return pathToFileURL(path);
}

/** Code of workers that wait after so many reads until there is a file at `gate`, and see to messages then. */
export function waitFor(gate: string, reads: number): string {
  return `const { readSync } = fs;
    const cell = new Int32Array(new SharedArrayBuffer(4));
    let reads = 0;
    fs.readSync = (...args) => {
      if (++reads > ${reads}) {
        do Atomics.wait(cell, 0, 0, 20);
        while (!fs.existsSync(${JSON.stringify(gate)}));
      }
      return readSync(...args);
    };`;
}
