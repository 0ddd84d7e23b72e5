// @module-tag slow
// @module-tag sampled
import { existsSync } from "node:fs";
import { readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copy } from "../../src/index.ts";
import type { MemoryStore } from "../../src/stores/memory.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestsOf } from "../support/consume.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { samples } from "../support/samples.ts";

withoutPauses();

const folder = temporaryFolder();
const LOCK = ".zarrflow-lock";

async function target(exclude: readonly string[] = []): Promise<string> {
  const path = folder.next("t.zarr");
  await copy(await makeHierarchy("v2", { consolidated: true }), path, { exclude: [...exclude] });
  return path;
}

const linesOf = async (source: string | MemoryStore) => Object.entries(await digestsOf(source)).map(String);

test.each(["update", "skip"] as const)(
  "of two runs at one folder with %s one is refused",
  async (ifExists) => {
    const sources: MemoryStore[] = [];
    for (const offset of [100, 200]) sources.push(await makeHierarchy("v2", { consolidated: true, offset }));
    const whole = await Promise.all(sources.map(linesOf));
    for (let round = 0; round < samples(4); round++) {
      const path = await target(ifExists === "skip" ? ["2024"] : []);
      const runs = await Promise.allSettled(sources.map((source) => copy(source, path, { ifExists })));
      expect(runs.map(({ status }) => status)).toContain("fulfilled");
      for (const run of runs)
        if (run.status === "rejected") expect(["locked", "target-exists"]).toContain(run.reason.code);
      const left = await linesOf(path);
      const added = ifExists === "skip" ? left.filter((line) => line.startsWith("2024")) : left;
      expect(whole).toContainEqual(expect.arrayContaining(added));
      expect(existsSync(join(path, LOCK))).toBe(false);
    }
  },
);

test("a locked folder is neither updated, added to nor replaced; one whose lock is old is", async () => {
  const path = await target(["time"]);
  const source = await makeHierarchy("v2", { consolidated: true, offset: 100 });
  const record = { owner: "other", host: "elsewhere", pid: 1, begun: "2026-01-01", renewed: "2026-01-01" };
  await writeFile(join(path, LOCK), JSON.stringify(record));
  const details = {
    found: expect.stringContaining("process 1 on elsewhere"),
    hint: expect.stringContaining("--break-lock"),
  };
  for (const ifExists of ["update", "skip", "replace"] as const)
    await expect(copy(source, path, { ifExists })).rejects.toMatchObject({ code: "locked", details });
  const below = copy({ store: source, path: "time" }, join(path, "time"));
  await expect(below).rejects.toMatchObject({ code: "locked" });
  const old = new Date(Date.now() - 6 * 60_000);
  await utimes(join(path, LOCK), old, old);
  await copy(source, path, { ifExists: "update" });
  expect(await digestsOf(path)).toEqual(await digestsOf(source));
  await writeFile(join(path, LOCK), JSON.stringify(record));
  await copy(await makeHierarchy("v2"), path, { ifExists: "replace", breakLock: true });
  expect(existsSync(join(path, LOCK))).toBe(false);
});

test("a run whose lock another has taken stops, and removes nothing of the other's", async () => {
  const path = await target(["time"]);
  const source = await makeHierarchy("v2", { consolidated: true });
  const record = JSON.stringify({ owner: "other", begun: "now", renewed: "now" });
  const run = copy(source, path, {
    ifExists: "skip",
    onEvent: ({ type }) => type === "progress" && void writeFile(join(path, LOCK), record),
  });
  await expect(run).rejects.toMatchObject({ code: "locked" });
  expect(await readFile(join(path, LOCK), "utf8")).toBe(record);
});
