// @module-tag slow
import { execFile } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Connection } from "../../src/bullmq/connection.ts";
import { follow, type QueueOptions, status, submit, worker } from "../../src/bullmq/index.ts";
import { dist, requireBuild } from "../built-package.ts";
import { until } from "../support/until.ts";

const ID = "00000000-0000-4000-8000-0123456789ab";

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("a queue whose server is not there", () => {
  /** What queues have heard of their server. */
  let errors: Error[];
  beforeEach(() => {
    errors = [];
    const { watched } = Connection.prototype;
    vi.spyOn(Connection.prototype, "watched").mockImplementation(function (this: Connection, emitter) {
      emitter.on("error", (error) => errors.push(error));
      return watched.call(this, emitter) as typeof emitter;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  test.each([
    ["status", (options: QueueOptions) => status(ID, options)],
    ["follow", (options: QueueOptions) => follow(ID, options)],
    ["worker", worker],
  ])("ends %s after the time that was given, without showing the password", async (_, call) => {
    const connection = `redis://user:hunter2@127.0.0.1:${await unusedPort()}`;
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    const ended = call({ connection, timeout: 0.5 }).catch((error: unknown) => error);
    await until(() => errors.length > 0);
    vi.advanceTimersByTime(600);
    const failure = await ended;
    expect(failure).toMatchObject({ code: "transient" });
    expect(String((failure as Error).message)).toMatch(/has not answered for 0\.5 s .*ECONNREFUSED/);
    expect(JSON.stringify({ ...(failure as object) }) + String(failure)).not.toContain("hunter2");
  });

  test("ends when the caller aborts", async () => {
    const connection = `redis://127.0.0.1:${await unusedPort()}`;
    const signal = () => {
      const abort = new AbortController();
      errors = [];
      void until(() => errors.length > 0).then(() => abort.abort());
      return abort.signal;
    };
    const asking = status(ID, { connection, signal: signal() });
    await expect(asking).rejects.toMatchObject({ code: "aborted" });
    // a worker that is stopped has done what it should
    await worker({ connection, signal: signal(), timeout: 30 });
  });

  test("keeps no process from ending, once the caller aborts", async () => {
    requireBuild();
    const connection = JSON.stringify(`redis://127.0.0.1:${await unusedPort()}`);
    const program = `
      import { worker } from ${JSON.stringify(pathToFileURL(join(dist, "bullmq/index.js")))};
      await worker({ connection: ${connection}, signal: AbortSignal.timeout(100), timeout: 30 });
      console.log("ended");`;
    const words = ["--input-type=module", "-e", program];
    const run = promisify(execFile)(process.execPath, words, { timeout: 30_000 });
    expect((await run).stdout).toBe("ended\n");
  });
});

describe("wrong arguments", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["a URL of another server", () => status(ID, { connection: "http://127.0.0.1" })],
    ["no URL", () => status(ID, { connection: "redis://[" })],
    ["no connection", () => status(ID, { connection: 7 as unknown as string })],
    ["a name that BullMQ cannot have", () => status(ID, { connection: "redis://x", queue: "a:b" })],
    ["no time", () => status(ID, { connection: "redis://x", timeout: 0 })],
    ["no jobs at a time", () => worker({ connection: "redis://x", concurrency: 0 })],
    ["too many jobs", () => submit("{}", { connection: "redis://x", jobs: 10_001 })],
  ])("%s", async (_, call) => {
    await expect(call()).rejects.toMatchObject({ code: "invalid-option" });
  });

  test("what is no plan", async () => {
    for (const call of [submit, status, follow]) {
      await expect(call("{}", { connection: "redis://x" })).rejects.toMatchObject({ code: "plan-mismatch" });
    }
  });
});
