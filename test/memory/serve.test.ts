// @module-tag long
// @module-tag alone
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { exitOf, startCli } from "../support/cli.ts";
import { makeSteps } from "./made-sources.ts";
import { describePeaks, expectPeaks, MB } from "./peak-memory.ts";

const folder = temporaryFolder();
const CLIENTS = 16;

/** Serves 512 MiB of maps as series, read by several clients. Returns the most memory that the server had resident. */
async function serve(source: string): Promise<number> {
  const child = startCli(folder.path, "serve", source, "--chunks", "-1,16,16", "--max-mem", "128MB");
  child.stderr.resume();
  const exit = exitOf(child);
  const url = String((await once(child.stdout, "data"))[0]).trim();
  const { shape, chunks } = await (await fetch(`${url}.zarray`)).json();
  const keys: string[] = [];
  for (let y = 0; y < shape[1] / chunks[1]; y++)
    for (let x = 0; x < shape[2] / chunks[2]; x++) keys.push(`0.${y}.${x}`);
  const read = async () => {
    for (let key = keys.shift(); key !== undefined; key = keys.shift()) {
      const bytes = await (await fetch(`${url}${key}`)).arrayBuffer();
      expect(bytes.byteLength).toBeGreaterThan(0);
    }
  };
  // one that takes nothing of what it asked for
  const stalled = await fetch(`${url}0.0.0`);
  await Promise.all(Array.from({ length: CLIENTS }, read));
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  await stalled.body?.cancel();
  child.kill("SIGTERM");
  expect(await exit).toBe(0);
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

describePeaks("peak resident memory of serve within 128 MB", () => {
  test("does not exceed the budget, however many clients read", async () => {
    const source = await makeSteps(join(folder.path, "half.zarr"), 1024, 1);
    await expectPeaks("serving 512 MiB", { peak: (128 + 120) * MB }, () => serve(source));
  }, 900_000);
});
