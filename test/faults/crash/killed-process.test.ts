// @module-tag long
// @module-tag alone
import "./mocked-calls.ts";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copy } from "../../../src/index.ts";
import { isOwnName, isReservedKey } from "../../../src/stores/reserved-names.ts";
import { EXIT_CODES } from "../../../src/util/errors.ts";
import { requireBuild } from "../../built-package.ts";
import { type Case, casesAt, formatsOf, IS_LONG } from "./cases.ts";
import { Expectation, Readings } from "./expectation.ts";
import { argumentsOf, buildKiller, type Kill, runAndKill } from "./killed-process.ts";
import { filePlace, newFolder } from "./places.ts";
import { before, type Run, runOnce, source } from "./runs.ts";

/** Kills by each signal in the short form, of some cases. */
const KILLS_IN_SHORT = 2;
const short: readonly Case[] = [
  { place: "directory", operation: "copy", mode: "update" },
  { place: "directory", operation: "direct", mode: "member" },
  { place: "directory", operation: "staged", mode: "replace" },
  { place: "directory", operation: "convert", mode: "skip" },
  { place: "zip", operation: "copy", mode: "replace" },
  { place: "zip", operation: "convert", mode: "fresh" },
];

const folder = newFolder();
const counts = { SIGKILL: 0, SIGINT: 0, resumed: 0, wrong: 0 };
beforeAll(async () => {
  requireBuild();
  await buildKiller(folder);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  console.log(
    `${counts.SIGKILL} processes killed, ${counts.SIGINT} interrupted, ${counts.resumed} resumed; ${counts.wrong} of them followed by a wrong value`,
  );
});

describe.each(IS_LONG ? casesAt("directory", "zip") : short)(
  "a process that does a $operation into a $place ($mode)",
  ({ place: name, operation, mode }) => {
    test.each(formatsOf({ place: name, operation, mode }))(
      "of %s leaves no wrong value, wherever it is killed",
      async (zarrFormat) => {
        const place = filePlace(folder, name === "zip" ? "h.zip" : "h.zarr");
        const run: Run = { operation, mode, zarrFormat };
        const [old, from] = [await before(run), await source(run)];
        const sourcePath = join(folder, `source-${operation}-${mode}-${zarrFormat}.zarr`);
        await copy(from, sourcePath, { ifExists: "replace" });
        const scratch = join(folder, "scratch");
        const target = (path: string) => `${place.targetAt(path)}`;
        const args = argumentsOf(run, { source: sourcePath, target, scratch });
        const start = async (kill?: Kill) => {
          await place.reset(old);
          return runAndKill(folder, args, kill);
        };
        const resume = async () => {
          counts.resumed++;
          const { code, stderr } = await runAndKill(folder, resuming(args));
          if (code !== 0) throw new Error(stderr);
        };

        await place.reset(old);
        const readings = new Readings();
        const first = await readings.at(place);
        const { code, calls = 0, stderr } = await start();
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        expect(calls).toBeGreaterThan(KILLS_IN_SHORT);
        const expectation = new Expectation(first, await readings.at(place));

        const wrong: string[] = [];
        const every = IS_LONG ? 1 : Math.ceil(calls / (KILLS_IN_SHORT + 1));
        for (const signal of ["SIGKILL", "SIGINT"] as const) {
          for (let at = every === 1 ? 0 : every; at < calls; at += every) {
            const tell = (what: string) => `${signal} at ${at} of ${calls}: ${what}`;
            const ended = await start({ signal, at });
            // which folders are made first, and so how many calls there are, is not the same in every run
            const isBefore = ended.code === 0 && (ended.calls ?? 0) <= at;
            if (!isBefore) counts[signal]++;
            const found = expectation.wrongIn(await readings.at(place)).map(tell);
            if (signal === "SIGKILL" && ended.signal !== signal && !isBefore) {
              found.push(tell(`ended with ${ended.code}`));
            }
            if (signal === "SIGINT") {
              const isEnded = ended.code === 0 || ended.code === EXIT_CODES.aborted;
              if (!isEnded) found.push(tell(`ended with ${ended.code ?? ended.signal}: ${ended.stderr}`));
              const isKept = ended.stderr.includes("to continue:");
              if (!isKept)
                found.push(...ownFilesIn(join(folder, "place")).map((path) => tell(`left ${path}`)));
            }
            await place.outlastTurns();
            const again = { from, targetAt: place.targetAt, scratch, isAgain: true };
            const isResumed = Math.round(at / every) % 2 === 0;
            await (isResumed ? resume() : runOnce(run, again)).catch((error) =>
              found.push(tell(`${isResumed ? "resumed" : "again"}: ${error}`)),
            );
            const left = [...ownFilesIn(join(folder, "place")), ...ownFilesIn(scratch)];
            found.push(...left.map((path) => tell(`left at the end ${path}`)));
            found.push(...expectation.unmendedIn(await readings.at(place)).map(tell));
            if (found.length > 0) counts.wrong++;
            wrong.push(...found);
          }
        }
        expect(wrong).toEqual([]);
      },
      1_200_000,
    );
  },
);

/** How a run is resumed: one that was to write a new target finds it where it was killed after its publication. */
function resuming(args: readonly string[]): string[] {
  const words = args.map((word, at) =>
    args[at - 1] === "--if-exists" && word === "error" ? "replace" : word,
  );
  return [...words, "--resume", "--break-lock"];
}

/** What a run has left of its own. */
function ownFilesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => path.split("/").some(isOwnName) || isReservedKey(path));
}
