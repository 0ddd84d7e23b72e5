// @module-tag slow
// @module-tag process
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { planRechunk } from "../../src/flows/copy.ts";
import type { FlowEvent } from "../../src/flows/events.ts";
import { runPlan } from "../../src/flows/run/run-plan.ts";
import { copy, create, digest, rechunk, slice } from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { RequestsNow } from "../../src/stores/remote/server-counters.ts";
import { openTargetBuild } from "../../src/stores/target.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { exitOf, startCli, testFolder } from "../support/cli.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { workerScript } from "../support/worker-script.ts";

const script = workerScript();
let server: S3Server;
let inFlight: number;
let most: number;

beforeEach(async () => {
  server = await serveReachableBucket();
  [inFlight, most] = [0, 0];
});
afterEach(async () => {
  nameMemoryStore("in-flight", undefined);
  await server.close();
});

/** An array of so many chunks. */
async function putArray(chunks: number, name = "a.zarr"): Promise<void> {
  const store = new MemoryStore();
  const array = await create(store, { shape: [chunks, 8], chunks: [1, 8], dataType: "uint8", codec: "none" });
  await array.write(
    {},
    Uint8Array.from({ length: chunks * 8 }, (_, i) => 1 + (i % 250)),
  );
  await array.close();
  for await (const { key } of store.list(""))
    server.objects.set(`${name}/${key}`, Buffer.from((await store.get(key)) ?? []));
}

/** Lets the server take its time for each request, and counts those that it has at one time. */
function slowDown(ms: number): void {
  server.fault = async (response) => {
    most = Math.max(most, ++inFlight);
    response.on("close", () => inFlight--);
    await new Promise((resolve) => setTimeout(resolve, ms));
    return false;
  };
}

describe("requests in flight at a server", () => {
  const SOURCE = `s3://${BUCKET}/a.zarr`;
  const TARGET = `s3://${BUCKET}/out.zarr`;

  it("are no more than stated, of source and target and all threads together", async () => {
    await putArray(200);
    const expected = await digest(SOURCE);
    slowDown(20);
    const planned = await planRechunk(SOURCE, TARGET, { chunks: [4, 2], io: 6, maxMemory: "16MB" });
    try {
      const build = await openTargetBuild(planned.plan.target.store, { ifExists: "error" });
      const worker = { script: script(), threads: 3 };
      const report = await runPlan(planned.plan, { source: planned.source, build, worker });
      expect(report.threads?.map(({ thread }) => thread).length).toBeGreaterThan(1);
    } finally {
      await planned.close();
    }
    expect(most).toBeGreaterThan(2);
    expect(most).toBeLessThanOrEqual(6);
    server.fault = undefined;
    expect(await digest(TARGET)).toEqual(expected);
  });

  it.each([1, 3])("are %i where that is stated, of copies, slices and rechunks", async (io) => {
    await putArray(40);
    slowDown(2);
    await copy(SOURCE, "memory:in-flight", { io });
    expect(most).toBe(io);
    await slice(SOURCE, "5:35", { io }).read();
    for await (const _ of slice(SOURCE, "5:35", { io }).bytes());
    await rechunk(SOURCE, TARGET, { chunks: [4, 2], io });
    expect(most).toBe(io);
  });

  it("are found otherwise, and reported with the progress", async () => {
    await putArray(1500);
    slowDown(20);
    const found: RequestsNow[] = [];
    const onEvent = (event: FlowEvent) => {
      if (event.type === "progress" && event.progress.requests) found.push(event.progress.requests);
    };
    await copy(SOURCE, "memory:in-flight", { io: "auto", onEvent });
    expect(most).toBeGreaterThanOrEqual(64);
    expect(most).toBeLessThanOrEqual(256);
    expect(Math.max(...found.map((now) => now.inFlight))).toBeGreaterThan(16);
    for (const now of found) {
      expect(now.allowed).toBeGreaterThanOrEqual(1);
      expect(now.inFlight).toBeLessThanOrEqual(256);
    }
  });

  it("follow a server that allows 10 requests a second, to the end", { tags: ["long"] }, async () => {
    const [CHUNKS, PER_SECOND] = [60, 10];
    await putArray(CHUNKS);
    let [tokens, since, asked, refused] = [PER_SECOND, performance.now(), 0, 0];
    server.fault = (response) => {
      const now = performance.now();
      tokens = Math.min(PER_SECOND, tokens + ((now - since) / 1000) * PER_SECOND);
      since = now;
      asked++;
      if (tokens >= 1) {
        tokens--;
        return false;
      }
      refused++;
      response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
      return true;
    };
    const { keysWritten } = await copy(SOURCE, "memory:in-flight");
    expect(keysWritten).toBe(CHUNKS + 1);
    // 64 are under way when the server first says so
    expect(refused).toBeLessThan(64 + 0.5 * asked);
  });

  it("are shared by two runs within a fifth", { tags: ["long"], retry: 2 }, async () => {
    const [CHUNKS, SLOTS, MS] = [1500, 8, 20];
    await putArray(CHUNKS, "a.zarr");
    await putArray(CHUNKS, "b.zarr");
    let working = 0;
    const waiting: (() => void)[] = [];
    const answered = { a: 0, b: 0 };
    let atFirstEnd: typeof answered | undefined;
    const begun = { a: 0, b: 0 };
    server.fault = async (_response, { key }) => {
      if (working === SLOTS) await new Promise<void>((resolve) => waiting.push(resolve));
      else working++;
      await new Promise((resolve) => setTimeout(resolve, MS));
      const next = waiting.shift();
      if (next) next();
      else working--;
      const run = key.startsWith("a.zarr") ? "a" : "b";
      answered[run]++;
      // from when both are at work
      if (answered.a > 100 && answered.b > 100 && begun.a === 0) Object.assign(begun, answered);
      if (Math.max(answered.a, answered.b) >= CHUNKS) atFirstEnd ??= { ...answered };
      return false;
    };
    const folder = await testFolder();
    const runs = ["a", "b"].map((name) =>
      exitOf(startCli(folder, "copy", `s3://${BUCKET}/${name}.zarr`, `${name}.zarr`, "--quiet")),
    );
    expect(await Promise.all(runs)).toEqual([0, 0]);
    const [a, b] = [(atFirstEnd?.a ?? 0) - begun.a, (atFirstEnd?.b ?? 0) - begun.b];
    expect(a + b).toBeGreaterThan(CHUNKS / 2);
    expect(Math.abs(a - b) / (a + b)).toBeLessThan(0.2);
  });
});
