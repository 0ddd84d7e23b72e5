// @module-tag long
// @module-tag alone
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { cp, mkdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestTree } from "../../../src/index.ts";
import { isOwnName, isReservedKey, LOCK_NAME } from "../../../src/stores/reserved-names.ts";
import { requireBuild } from "../../built-package.ts";
import { faulty, filesOf, zipOf } from "../../support/faulty-hierarchy.ts";
import { IS_LONG } from "./cases.ts";
import { buildKiller, runAndKill } from "./killed-process.ts";
import { newFolder } from "./places.ts";

/** Kills of each kind of target in the short form. */
const KILLS_IN_SHORT = 4;

const folder = newFolder();
const counts = { killed: 0, wrong: 0 };
beforeAll(async () => {
  requireBuild();
  await buildKiller(folder);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  console.log(
    `${counts.killed} processes of validate --fix killed; ${counts.wrong} of them left something wrong`,
  );
});

/** What lies in a folder beside what is a run's own, which the next one removes. */
async function kept(place: string): Promise<Map<string, string>> {
  const files = await filesOf(place);
  return new Map([...files].filter(([name]) => !name.split("/").some(isOwnName) && !isReservedKey(name)));
}

test.each(["g.zarr", "g.zarr.zip"])(
  "validate --fix of %s, killed at a call that changes something, leaves each key as before or as after, and the next ends it",
  async (name) => {
    const made = join(folder, `made-${name.replace(".zip", "-z")}`);
    await mkdir(made);
    const root = await faulty(made);
    if (name.endsWith(".zip")) {
      await zipOf(root, true);
      rmSync(root, { recursive: true });
    }
    const place = join(folder, `place-${name.replace(".zip", "-z")}`);
    const reset = async () => {
      rmSync(place, { recursive: true, force: true });
      await cp(made, place, { recursive: true });
    };
    const target = join(place, name);
    const args = ["validate", "--fix", "--quiet", target];

    await reset();
    const before = await kept(place);
    const values = await digestTree(target);
    const { calls = 0, stderr } = await runAndKill(folder, args);
    expect(stderr).toBe("");
    const after = await kept(place);
    expect(after).not.toEqual(before);
    expect(calls).toBeGreaterThan(KILLS_IN_SHORT);

    const wrong: string[] = [];
    const step = IS_LONG ? 1 : Math.ceil(calls / KILLS_IN_SHORT);
    for (let at = 0; at < calls; at += step) {
      await reset();
      const ended = await runAndKill(folder, args, { signal: "SIGKILL", at });
      if (ended.signal !== "SIGKILL") continue;
      counts.killed++;
      const found: string[] = [];
      const killed = await kept(place);
      for (const key of new Set([...before.keys(), ...after.keys()])) {
        const now = killed.get(key);
        if (now === undefined && key === name) continue;
        const isEither = key.endsWith(".zmetadata")
          ? areAllOf(now, before, after)
          : now === before.get(key) || now === after.get(key);
        if (!isEither) found.push(`${key} is something else`);
      }
      // a zip that is replaced is for a moment at neither place: the next puts it there
      const isThere = existsSync(target);
      if (isThere) expect(await digestTree(target)).toEqual(values);
      await ageEmptyLock(target);
      await runAndKill(folder, args);
      expect(await digestTree(target)).toEqual(values);
      try {
        expect(await kept(place)).toEqual(after);
      } catch (error) {
        found.push(`the next does not end it: ${error}`);
      }
      for (const path of ownFilesIn(place)) found.push(`left ${path}`);
      if (found.length > 0) counts.wrong++;
      wrong.push(...found.map((what) => `killed at ${at} of ${calls}: ${what}`));
    }
    expect(wrong).toEqual([]);
  },
  1_200_000,
);

/** Whether each document that consolidated metadata list is as before or as after. */
function areAllOf(text: string | undefined, ...states: readonly Map<string, string>[]): boolean {
  const { metadata } = parsed(text) as { metadata: object };
  return Object.entries(metadata).every(([key, document]) =>
    states.some((state) => isDeepStrictEqual(document, parsed(state.get(`g.zarr/${key}`)))),
  );
}

/** A document, whose bare NaN and infinities are words. */
function parsed(text = "null"): unknown {
  return JSON.parse(text.replaceAll(/(?<!")(?:NaN|-?Infinity)(?!")/g, '"$&"'));
}

/** A lock of a run that was killed before it wrote its name counts for nothing after 5 minutes. */
async function ageEmptyLock(target: string): Promise<void> {
  const lock = join(target, LOCK_NAME);
  const info = await stat(lock).catch(() => undefined);
  if (info?.size === 0) await utimes(lock, new Date(0), new Date(0));
}

/** What a run has left of its own, but for a folder in which it had written nothing yet, or nothing is any more. */
function ownFilesIn(place: string): string[] {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter(({ name }) => isOwnName(name) || isReservedKey(name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !statSync(path).isDirectory() || readdirSync(path).length > 0);
}
