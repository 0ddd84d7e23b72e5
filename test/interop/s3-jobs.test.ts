// @module-tag slow
// @module-tag process
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { command, requireBuild } from "../built-package.ts";
import { makeSource, mustRun, stagesOf, TO_SERIES } from "../flows/jobs/processes.ts";
import { exitOf } from "../support/cli.ts";
import { drawsAll } from "../support/samples.ts";
import { type Bucket, environmentOf, servers } from "./s3-servers.ts";

/** Processes of each stage: eight at real servers. */
const COUNT = drawsAll || process.env.ZARRFLOW_S3_SERVERS ? 8 : 3;

describe.each(servers)(`plans that ${COUNT} processes run at $name`, ({ openBucket }) => {
  const env = { ...process.env };
  let bucket: Bucket;
  let folder: string;

  beforeAll(async () => {
    requireBuild();
    bucket = await openBucket();
    folder = mkdtempSync(join(tmpdir(), "zarrflow-s3-jobs-"));
    Object.assign(process.env, environmentOf(bucket));
    await makeSource(join(folder, "src.zarr"));
  });
  afterAll(async () => {
    process.env = env;
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

  test.each(["direct", "staged"])(
    "a %s rechunk is what one process makes, a third killed",
    async (strategy) => {
      const url = (name: string) => `s3://${bucket.name}/${strategy}-${name}`;
      const how = [...TO_SERIES, "--max-mem", "9900kB", "--strategy", strategy];
      await mustRun(folder, ["rechunk", "src.zarr", url("inline"), ...how, "--quiet"]);
      const place = ["--scratch", url("scratch"), "--output", "plan.json", "--quiet"];
      await mustRun(folder, ["plan", "rechunk", "src.zarr", url("out"), ...how, ...place]);
      for (const stage of stagesOf(folder).keys()) {
        const start = (index: number) => {
          const flags = ["--task-index", String(index), "--task-count", String(COUNT), "--quiet"];
          const args = [command, "run", "plan.json", "--stage", String(stage + 1), ...flags];
          return spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
        };
        const started = Array.from({ length: COUNT }, (_, index) => start(index));
        const exits = started.map(exitOf);
        const records = bucket.store({ prefix: `${strategy}-out` });
        const isBegun = async (index: number) => {
          for await (const { key } of records.list(""))
            if (key.includes(`/ledger-${stage}-${index}-`)) return true;
          return false;
        };
        for (let index = 0; index < COUNT; index += 3) {
          let hasEnded = false;
          void exits[index]?.then(() => {
            hasEnded = true;
          });
          while (!hasEnded && !(await isBegun(index))) await sleep(5);
          started[index]?.kill("SIGKILL");
        }
        const codes = await Promise.all(exits);
        const killed = [...codes.keys()].filter((index) => codes[index] !== 0);
        expect(await Promise.all(killed.map((index) => exitOf(start(index))))).toEqual(killed.map(() => 0));
      }
      await mustRun(folder, ["finish", "plan.json", "--verify", "--quiet"]);
      expect(await valuesAt(`${strategy}-out`)).toEqual(await valuesAt(`${strategy}-inline`));
      expect((await valuesAt(`${strategy}-scratch`)).size).toBe(0);
    },
    300_000,
  );
});
