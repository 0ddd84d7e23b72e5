// @module-tag long
import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run-flow.ts";
import { copy, isZarrflowError, openArray, ZarrflowError } from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { S3_PART_BYTES } from "../../src/stores/store-traits.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { failOnUnhandledRejections } from "../streams/support.ts";
import { testFolder } from "../support/cli.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

failOnUnhandledRejections();

const SHAPE = [96, 256, 256];
/** 12 MiB that no codec makes smaller. */
const ITEMS = Uint16Array.from({ length: 96 * 2 ** 16 }, (_, i) => Math.imul(i, 2654435761) >>> 16);

function arrayOf(chunks: readonly number[], shards?: readonly number[]): Promise<MemoryStore> {
  const grid = { chunks, ...(shards && { shards }) };
  return given({ shape: SHAPE, dataType: "uint16", codec: "none", ...grid, values: ITEMS });
}

let server: S3Server;
let source: MemoryStore;
let expected: string | undefined;
beforeAll(async () => {
  server = await serveReachableBucket();
  source = await arrayOf([1, 256, 256]);
  expected = await digestOf(await openArray(source));
});
afterEach(() => nameMemoryStore("sharded", undefined));
afterAll(() => server.close());

const targets = {
  "a directory": async () => `${await testFolder()}/sharded.zarr`,
  "a zip": async () => `${await testFolder()}/sharded.zarr.zip`,
  memory: async () => "memory:sharded",
  S3: async () => `s3://${BUCKET}/${Math.random()}/sharded.zarr`,
};

describe.each(Object.entries(targets))("shards go to %s", (name, makeTarget) => {
  test.each([
    ["one of 12 MiB", SHAPE],
    ["two of 6 MiB", [48, 256, 256]],
    ["many small ones", [16, 64, 64]],
    ["some that reach beyond the array", [64, 192, 192]],
  ])("%s, within 16 MB", async (_, shards) => {
    const target = await makeTarget();
    const changes = { chunks: [16, 32, 32], shards, codec: "zstd:1" as const, maxMemory: 16e6 };
    const planned = await planFlow(await openArray(source), target, changes);
    const report = await runFlow(planned, { verify: true });
    const { totals } = planned.plan;
    expect(report.peakBuffers).toBeLessThanOrEqual(16e6);
    expect(totals.predictedPeak).toBeLessThanOrEqual(16e6);
    expect(report.chunksWritten).toBe(totals.chunksWritten);
    expect((await openArray(target)).chunkShape).toEqual(shards);
    expect(await digestOf(target)).toBe(expected);
    if (name === "S3") expect(server.uploads.size).toBe(0);
  });
});

describe.each(Object.entries(targets))("nothing is left in %s of shards", (name, makeTarget) => {
  const left = async (target: string) => [
    ...[...server.objects.keys()]
      .map((key) => `s3://${BUCKET}/${key}`)
      .filter((url) => url.startsWith(target)),
    ...server.uploads.keys(),
    ...(name.startsWith("a ") ? await readdir(dirname(target)) : []),
  ];
  const changes = { chunks: [16, 32, 32], codec: "none" as const, maxMemory: 16e6 };

  test.each([
    ["streamed", SHAPE],
    ["put together", [16, 64, 64]],
  ])("when the flow is aborted amid those that are %s", async (_, shards) => {
    const target = await makeTarget();
    for (const after of [1, 30, 90]) {
      const stop = new AbortController();
      let reads = 0;
      const counting = withRequestLog(source, () => {
        if (++reads === after) stop.abort(new Error("enough"));
      });
      const planned = await planFlow(await openArray(counting), target, { ...changes, shards });
      reads = 0;
      await expect(runFlow(planned, { signal: stop.signal })).rejects.toMatchObject({
        code: "aborted",
        cause: new Error("enough"),
      });
      expect(await left(target)).toEqual([]);
    }
  });

  test("when a chunk cannot be read", async () => {
    const target = await makeTarget();
    const broken = Object.assign(new MemoryStore(), {
      async get(key: string, options: GetOptions = {}) {
        if (key === "c/70/0/0") throw new ZarrflowError("transient", "the disk is tired");
        return source.get(key, options);
      },
    });
    for (const shards of [SHAPE, [48, 256, 256], [16, 64, 64]]) {
      const planned = await planFlow(await openArray(broken), target, { ...changes, shards });
      const error = await runFlow(planned, {}).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "transient", details: { key: "c/70/0/0", coords: [70, 0, 0] } });
      expect(await left(target)).toEqual([]);
    }
  });
});

describe("what a writer to S3 holds", () => {
  const url = `s3://${BUCKET}/counted/x.zarr`;
  const plan = async (maxMemory: number, to: string) =>
    planFlow(await openArray(source), to, { chunks: [16, 32, 32], shards: SHAPE, maxMemory });
  const leastFor = async (to: string) => {
    const error: unknown = await plan(1, to).catch((thrown: unknown) => thrown);
    if (!isZarrflowError(error, "budget-too-small")) throw error;
    return Number(/(\d+) bytes/.exec(String(error.details.expected))?.[1]);
  };

  test("counts, while shards are streamed", async () => {
    const counted = await leastFor(url);
    expect(counted).toBe((await leastFor("memory:sharded")) + S3_PART_BYTES);
    const { plan: planned } = await plan(counted, url);
    expect(planned.jobs[0]?.shardBuffer).toBeUndefined();
    expect(planned.jobs[0]?.leaseBytes).toBeLessThanOrEqual(counted);
  });

  test("counts for large values that are copied unchanged", async () => {
    const whole = await arrayOf(SHAPE);
    const to = `s3://${BUCKET}/whole/x.zarr`;
    const report = await copy(await openArray(whole), to, { maxMemory: 10e6 });
    // A piece and the writer's part are within the budget together.
    expect(report.peakBuffers).toBeLessThanOrEqual(10e6 - S3_PART_BYTES);
    expect(await digestOf(to)).toBe(expected);
    await expect(copy(await openArray(whole), `${to}2`, { maxMemory: 1e6 })).rejects.toMatchObject({
      code: "budget-too-small",
    });
  });
});
