// @module-tag long
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "rolldown";
import { beforeAll, describe, expect, it } from "vitest";
import { isListable, type StoreSpec } from "../../src/stores/store.ts";
import { openStore } from "../../src/stores/url.ts";
import { openTargetBuild } from "../../src/targets/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const VALUES = 20;
const folder = temporaryFolder();

/** Replaces a target again and again, each time with other values. */
const PROGRAM = `
import { openTargetBuild } from ${JSON.stringify(join(import.meta.dirname, "../../src/targets/index.ts"))};
const spec = JSON.parse(process.argv[2]);
for (let round = 1; ; round++) {
  const { store, publish } = await openTargetBuild(spec, { ifExists: "replace" });
  for (let i = 0; i < ${VALUES}; i++) await store.set("a/" + i, new Uint8Array(100).fill(round));
  await publish();
  if (round === 1) console.log("begun");
}`;

beforeAll(async () => {
  const input = join(folder.path, "program.mjs");
  fs.writeFileSync(input, PROGRAM);
  fs.symlinkSync(join(import.meta.dirname, "../../node_modules"), join(folder.path, "node_modules"));
  await build({ input, platform: "node", external: [/^node:/], output: { dir: join(folder.path, "built") } });
});

describe.each(["directory", "zip"] as const)("a run that replaces a %s again and again", (kind) => {
  it("leaves it whole or absent whenever it is killed, and the next start mends it", async () => {
    const spec = { kind, path: folder.next("x") };
    for (let kill = 0; kill < 8; kill++) {
      await runAndKill(spec, 7 * kill);
      if (fs.existsSync(spec.path)) await assertWhole(spec);
      await expect(openTargetBuild(spec, { ifExists: "error" })).rejects.toMatchObject({
        code: "target-exists",
      });
      await assertWhole(spec);
      const left = fs.readdirSync(dirname(spec.path), { recursive: true, encoding: "utf8" });
      expect(left.filter((name) => /^\.x\.zarrflow-\w+\/(?:old|trash)$/.test(name))).toEqual([]);
    }
  });
});

async function runAndKill(spec: StoreSpec, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [join(folder.path, "built/program.js"), JSON.stringify(spec)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  expect(child.exitCode).toBeNull();
  await sleep(afterMs);
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** All values are there, and of one round. */
async function assertWhole(spec: StoreSpec): Promise<void> {
  const store = await openStore(spec);
  if (!isListable(store)) throw new Error("the store cannot list");
  const rounds = new Set<number | undefined>();
  let values = 0;
  for await (const { key } of store.list("")) {
    values++;
    for (const byte of (await store.get(key)) ?? []) rounds.add(byte);
  }
  await store.close?.();
  expect({ values, rounds: rounds.size }).toEqual({ values: VALUES, rounds: 1 });
}
