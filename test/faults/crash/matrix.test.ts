// @module-tag long
// @module-tag alone
import "./mocked-calls.ts";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { S3Server } from "../../stores/s3-server.ts";
import { serveReachableBucket } from "../../support/s3-environment.ts";
import { casesAt, formatsOf, IS_LONG, type PlaceName } from "./cases.ts";
import { cutEverywhere } from "./every-cut.ts";
import { bucketPlace, filePlace, newFolder, objectPlace, type Place } from "./places.ts";

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

const counts = { cuts: 0, resumed: 0, repeated: 0, wrong: 0 };
afterAll(() =>
  console.log(
    `${counts.cuts} cuts, ${counts.wrong} of them followed by a wrong value; ${counts.resumed} tasks resumed, ${counts.repeated} done again`,
  ),
);

const cases = casesAt("directory", "zip", "s3", "object");

describe.each(cases)("a $operation into a $place ($mode)", ({ place: name, operation, mode }) => {
  test.each(formatsOf({ place: name, operation, mode }))(
    "of %s shows no wrong value, wherever it is cut",
    async (zarrFormat) => {
      const found = await cutEverywhere(
        places[name](),
        { operation, mode, zarrFormat },
        {
          scratch,
          cutsOfKind: IS_LONG ? undefined : CUTS_IN_SHORT,
          // keys without a document, and without a lock that tells whose they are
          mayBeRefused: name === "object",
        },
      );
      counts.cuts += found.cuts;
      counts.resumed += found.tasksResumed;
      counts.repeated += found.tasksRepeated;
      counts.wrong += found.wrongCuts;
      expect(found.calls).toBeGreaterThan(0);
      expect(found.wrong).toEqual([]);
    },
    600_000,
  );
});
