import "./mocked-calls.ts";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isZarrflowError } from "../../../src/util/errors.ts";
import type { S3Server } from "../../stores/s3-server.ts";
import { serveReachableBucket } from "../../support/s3-environment.ts";
import { casesAt, formatsOf, IS_LONG, type PlaceName } from "./cases.ts";
import { Cut, type CutKind } from "./cut.ts";
import { Expectation, Readings } from "./expectation.ts";
import { bucketPlace, filePlace, newFolder, objectPlace, type Place } from "./places.ts";
import { before, type Run, runOnce, source } from "./runs.ts";

const CUTS_IN_SHORT = 3;

const folder = newFolder();
const scratch = join(folder, "scratch");
let server: S3Server;
beforeAll(async () => {
  server = await serveReachableBucket();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const places: Readonly<Record<PlaceName, () => Place>> = {
  directory: () => filePlace(folder, "h.zarr"),
  zip: () => filePlace(folder, "h.zip"),
  s3: () => bucketPlace(server),
  object: () => objectPlace(),
};

const counts = { cuts: 0, wrong: 0 };
afterAll(() => console.log(`${counts.cuts} cuts, ${counts.wrong} of them followed by a wrong value`));

const cases = casesAt("directory", "zip", "s3", "object");

describe.each(cases)("a $operation into a $place ($mode)", ({ place: name, operation, mode }) => {
  test.each(formatsOf({ place: name, operation, mode }))(
    "of %s shows no wrong value, wherever it is cut",
    async (zarrFormat) => {
      const place = places[name]();
      const readings = new Readings();
      const run: Run = { operation, mode, zarrFormat };
      const [old, from] = [await before(run), await source(run)];
      const calls = async (cut: Cut) => {
        await place.reset(old);
        await place.during(cut, () =>
          inTime(runOnce(run, { from, targetAt: place.targetAt, signal: cut.signal, scratch })),
        );
      };
      await place.reset(old);
      const first = await readings.at(place);
      const counting = new Cut();
      await calls(counting);
      const last = await readings.at(place);
      const expectation = new Expectation(first, last);
      expect(counting.calls).toBeGreaterThan(0);
      const wrong: string[] = [];
      const every = IS_LONG ? 1 : Math.max(1, Math.floor(counting.calls / CUTS_IN_SHORT));
      for (const kind of ["kill", "fail", "abort"] satisfies CutKind[]) {
        for (let at = 0; at < counting.calls; at += every) {
          const ended = await calls(new Cut(kind, at)).catch((error) => error);
          counts.cuts++;
          const tell = (what: string) => `${kind} at ${at} of ${counting.calls}: ${what}`;
          const found = expectation.wrongIn(await readings.at(place)).map(tell);
          if (ended === HANGS) found.push(tell("hangs"));
          await place.outlastTurns();
          // the next run ends what was cut
          try {
            await runOnce(run, { from, targetAt: place.targetAt, scratch, isAgain: true });
            found.push(...expectation.unmendedIn(await readings.at(place)).map(tell));
          } catch (error) {
            // keys without a document, and without a lock that tells whose they are, may be anybody's
            const isNobodys = name === "object" && isZarrflowError(error, "target-not-empty");
            if (!isNobodys) found.push(tell(`again: ${error}`));
          }
          if (found.length > 0) counts.wrong++;
          wrong.push(...found);
        }
      }
      expect(wrong).toEqual([]);
    },
    600_000,
  );
});

const HANGS = new Error("it hangs");

/** What comes of a run, unless it takes far too long. */
async function inTime<T>(run: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(HANGS), 20_000);
  });
  return Promise.race([run, late]).finally(() => clearTimeout(timer));
}
