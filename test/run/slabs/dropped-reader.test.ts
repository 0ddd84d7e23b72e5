// @module-tag slow
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { create } from "../../../src/hierarchy/create/create.ts";
import { dist, requireBuild } from "../../built-package.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";

const script = fileURLToPath(new URL("drop-reader.mjs", import.meta.url));
const folder = temporaryFolder();

test("a process ends whose reader of slabs by worker threads was dropped", async () => {
  requireBuild();
  const path = join(folder.path, "large.zarr");
  const chunks = [4, 1_000_000];
  const array = await create(path, {
    ...{ shape: [1200, 1_000_000], chunks, dataType: "uint8", zarrFormat: "v2", codec: "zstd" },
  });
  await array.write([[0, 4]], new Uint8Array(4_000_000).fill(1));
  await array.close();
  for (let i = 1; i < 300; i++) await copyFile(join(path, "0.0"), join(path, `${i}.0`));
  const child = spawn(process.execPath, [script, pathToFileURL(join(dist, "index.js")).href, path], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 60_000,
  });
  const output = text(child.stdout);
  const [code, signal] = await once(child, "exit");
  expect({ code, signal, threads: Number(await output) }).toEqual({ code: 0, signal: null, threads: 1 });
});
