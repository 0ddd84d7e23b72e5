// @module-tag slow
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { context, copy, rechunk, slice } from "../../src/index.ts";
import type { FlowEvent } from "../../src/run/events.ts";
import { runPlan } from "../../src/run/run-plan.ts";
import { nameMemoryStore } from "../../src/stores/memory.ts";
import type { RequestsNow } from "../../src/stores/remote/server-counters.ts";
import { openTargetBuild } from "../../src/targets/index.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { serveValues } from "../stores/value-server.ts";
import { digestsOf, valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { until } from "../support/until.ts";
import { workerScript } from "../support/worker-script.ts";

const script = workerScript();
let server: S3Server;
/** The most requests that the server had at one time. */
let most: number;

beforeEach(async () => {
  server = await serveReachableBucket();
  most = 0;
});
afterEach(async () => {
  nameMemoryStore("in-flight", undefined);
  await server.close();
});

/** An array of so many chunks. */
async function putArray(chunks: number, name = "a.zarr"): Promise<void> {
  const values = (i: number) => 1 + (i % 250);
  const array = { shape: [chunks, 8], chunks: [1, 8], dataType: "uint8", codec: "none", values };
  for (const [key, value] of await valuesIn(await given(array)))
    server.objects.set(`${name}/${key}`, Buffer.from(value));
}

/**
 * Counts the requests that the server has at one time, and holds those for chunks until something is so. One that is made
 * again for being late counts once: the server hears later that the first was given up.
 */
function holdChunks(isEnough: () => boolean): void {
  const open = new Map<string, number>();
  server.fault = async (response, { method, key, query }) => {
    const name = `${method} ${key} ${query}`;
    const change = (by: 1 | -1) => {
      const count = (open.get(name) ?? 0) + by;
      if (count === 0) open.delete(name);
      else open.set(name, count);
    };
    change(1);
    response.on("close", () => change(-1));
    most = Math.max(most, open.size);
    if (method === "GET" && /\/c\/\d/.test(key)) await until(isEnough);
    return false;
  };
}

describe("requests in flight at a server", () => {
  const SOURCE = `s3://${BUCKET}/a.zarr`;
  const TARGET = `s3://${BUCKET}/out.zarr`;

  it("are no more than stated, of source and target and all threads together", async () => {
    for (const name of ["a", "b", "c", "d"]) await putArray(12, `a.zarr/${name}`);
    server.objects.set("a.zarr/zarr.json", Buffer.from('{"zarr_format":3,"node_type":"group"}'));
    const planned = await planFlow(SOURCE, TARGET, { codec: "gzip", concurrency: 6, maxMemory: "16MB" });
    let tasks = 0;
    holdChunks(() => tasks >= 3 && most >= 6);
    try {
      const build = await openTargetBuild(planned.plan.target.store, { ifExists: "error" });
      const worker = { script: script(), threads: 3 };
      const onEvent = ({ type }: FlowEvent) => void (type === "task-start" && tasks++);
      const report = await runPlan(planned.plan, { source: planned.source, build, worker, onEvent });
      expect(report.threads?.map((one) => one.tasks)).not.toContain(0);
      expect(report.threads).toHaveLength(3);
    } finally {
      await planned.close();
    }
    expect(most).toBe(6);
    server.fault = undefined;
    expect(await digestsOf(TARGET)).toEqual(await digestsOf(SOURCE));
  });

  it.each([1, 3])("are %i where that is stated, of copies, slices and rechunks", async (concurrency) => {
    await putArray(12);
    holdChunks(() => most >= concurrency);
    await copy(SOURCE, "memory:in-flight", { concurrency });
    await slice(SOURCE, "2:9", { concurrency }).read();
    for await (const _ of slice(SOURCE, "2:9", { concurrency }).bytes());
    await rechunk(SOURCE, TARGET, { chunks: [4, 2], concurrency });
    expect(most).toBe(concurrency);
  });

  it("are no more for all calls of a context together", async () => {
    for (const name of ["a", "b", "c"]) await putArray(12, `${name}.zarr`);
    const shared = context({ concurrency: 4 });
    holdChunks(() => most >= 4);
    const read = (name: string) => slice(`s3://${BUCKET}/${name}.zarr`, {}, { context: shared }).read();
    await Promise.all([copy(SOURCE, "memory:in-flight", { context: shared }), read("b"), read("c")]);
    expect(most).toBe(4);
  });

  it("are found otherwise, and reported with the progress", async () => {
    await putArray(300);
    const found: RequestsNow[] = [];
    const onEvent = (event: FlowEvent) => {
      if (event.type === "progress" && event.progress.requests) found.push(event.progress.requests);
    };
    holdChunks(() => most >= 64);
    await copy(SOURCE, "memory:in-flight", { concurrency: "auto", onEvent });
    expect(most).toBeLessThanOrEqual(256);
    // first reported with the first value
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
});

/** Which format it is, and its attributes, are asked for at once. */
const OPENING = 5;

/** Whether the document is still as it was. */
const CLOSING = 1;

it.each([
  ["copy", copy, {}],
  ["rechunk", rechunk, { chunks: [4] }],
] as const)("%s asks a web server for each chunk once, and for few documents", async (_, flow, how) => {
  const array = { shape: [8], chunks: [2], dataType: "uint8", codec: "none", values: (i: number) => i + 1 };
  const web = await serveValues(await valuesIn(await given(array)));
  await flow(web.url, "memory:in-flight", how as never);
  const keys = web.requests.map(({ method, url }) => `${method} ${url.replace("/data/", "")}`);
  const chunks = [0, 1, 2, 3].map((i) => `GET c/${i}`);
  expect(keys.filter((key) => key.includes("c/")).sort()).toEqual(chunks);
  expect(keys.length - 4).toBe(OPENING + CLOSING);
  await web.close();
});
