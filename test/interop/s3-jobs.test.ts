// @module-tag sampled
// @module-tag slow
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { requireBuild } from "../built-package.ts";
import { buildKiller } from "../faults/crash/killed-process.ts";
import { makeSource, mustRun, stagesOf, startShare } from "../flows/jobs/support.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { drawsAll } from "../support/samples.ts";
import { type Bucket, environmentOf, servers } from "./s3-servers.ts";

/** Processes of each stage: eight at real servers. */
const COUNT = drawsAll || process.env.ZARRFLOW_S3_SERVERS ? 8 : 2;

withoutPauses();

describe.each(servers)(`plans that ${COUNT} processes run at $name`, ({ openBucket }) => {
  let bucket: Bucket;
  let folder: string;

  beforeAll(async () => {
    requireBuild();
    bucket = await openBucket();
    folder = mkdtempSync(join(tmpdir(), "zarrflow-s3-jobs-"));
    stubEnvironment(environmentOf(bucket));
    await buildKiller(folder);
    mkdirSync(join(folder, "src.zarr"));
    writeFileSync(join(folder, "src.zarr/.zgroup"), '{"zarr_format":2}');
    for (let i = 0; i < 2 * COUNT; i++) await makeSource(join(folder, `src.zarr/${i}`), [16, 24, 24]);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
    await bucket.close();
  });

  const valuesAt = async (prefix: string) => {
    const values = new Map<string, Buffer>();
    const store = bucket.store({ prefix });
    for await (const { key } of store.list("")) {
      values.set(key, Buffer.from((await store.get(key)) ?? new Uint8Array(0)));
    }
    return values;
  };

  // test/flows/jobs/several-processes.test.ts runs direct ones in folders
  describe.each(["direct", "staged"])("a %s rechunk", (strategy) => {
    const tags = strategy === "direct" && COUNT < 8 ? ["long"] : [];
    test("is what one process makes, a third killed", { tags, timeout: 300_000 }, async () => {
      const url = (name: string) => `s3://${bucket.name}/${strategy}-${name}`;
      const how = ["--chunks", "time=-1,y=8,x=8", "--strategy", strategy, "--quiet"];
      await mustRun(folder, ["rechunk", "src.zarr", url("inline"), ...how]);
      const scratch = strategy === "staged" ? ["--scratch", url("scratch")] : [];
      const place = ["src.zarr", url("out"), ...scratch, "--output", "plan.json"];
      await mustRun(folder, ["plan", "rechunk", ...place, ...how]);
      for (const stage of stagesOf(folder).keys()) {
        const shares = Array.from({ length: COUNT }, (_, index) => ({
          stage: stage + 1,
          index,
          count: COUNT,
        }));
        // a scratch object holds many chunks
        const kill = { killer: folder, at: strategy === "staged" && stage === 0 ? 3 : 12 };
        const isVictim = ({ index }: { readonly index: number }) => index % 3 === 0;
        const started = shares.map((share) => startShare(folder, share, isVictim(share) ? kill : undefined));
        const codes = await Promise.all(started.map(({ exit }) => exit));
        expect(codes).toEqual(shares.map((share) => (isVictim(share) ? null : 0)));
        for (const { index } of shares.filter(isVictim)) {
          const flags = ["--stage", `${stage + 1}`, "--task-index", `${index}`, "--task-count", `${COUNT}`];
          await mustRun(folder, ["run", "plan.json", ...flags, "--quiet"]);
        }
      }
      await mustRun(folder, ["finish", "plan.json", "--verify", "--quiet"]);
      expect(await valuesAt(`${strategy}-out`)).toEqual(await valuesAt(`${strategy}-inline`));
      expect((await valuesAt(`${strategy}-scratch`)).size).toBe(0);
    });
  });
});
