// @module-tag long
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { onRetry, type Retry } from "../../src/stores/remote/retry-events.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { FAULTS, type FaultProxy, oneOf, type ProxiedRequest, proxyTo } from "./fault-proxy.ts";
import { dataSets, goRound, type Ring, ringOf } from "./s3-ring.ts";
import { type Bucket, bucketAt, environmentOf, servers } from "./s3-servers.ts";
import { hasShared } from "./shared.ts";
import { filesOf } from "./trees.ts";

/** Milliseconds of the longest first wait, which each further one may double. */
const FIRST_WAIT = 200;

/** What it took to go round. */
interface Round {
  readonly rings: readonly Ring[];
  readonly requests: readonly ProxiedRequest[];
  readonly retries: readonly Retry[];
}

/** On a busy machine some answers come late, and are asked for once more. */
const isOfFault = ({ error }: Retry) => !error.message.includes("later than usual");

describe.runIf(hasShared).each(servers)("the ring through $name when requests fail", ({ openBucket }) => {
  let bucket: Bucket;
  let folder: string;
  let sound: Round;
  let faulty: Round;

  beforeAll(async () => {
    bucket = await openBucket();
    folder = mkdtempSync(join(tmpdir(), "zarrflow-faults-"));
    sound = await roundThrough(await proxyTo(bucket.endpoint));
    faulty = await roundThrough(await proxyTo(bucket.endpoint, oneOf(10)));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
    await bucket.close();
  });

  async function roundThrough(proxy: FaultProxy): Promise<Round> {
    stubEnvironment(environmentOf(bucketAt(proxy.endpoint, bucket)));
    const retries: Retry[] = [];
    const endWatch = onRetry((retry) => retries.push(retry));
    try {
      const places = { bucket: bucket.name, folder: mkdtempSync(join(folder, "round-")) };
      const rings = dataSets.map((name) => ringOf(name, places));
      for (const ring of rings) await goRound(ring);
      return { rings, requests: proxy.requests, retries };
    } finally {
      endWatch();
      await proxy.close();
    }
  }

  test("one request of ten fails, in each way", () => {
    const { requests } = faulty;
    expect(requests.filter(({ fault }) => fault).length).toBeGreaterThan(0.09 * requests.length);
    for (const fault of FAULTS) {
      expect(requests.filter((request) => request.fault === fault).length, fault).toBeGreaterThan(5);
    }
    expect(sound.retries.filter(isOfFault)).toEqual([]);
  });

  test("all is byte for byte the same at the end", () => {
    for (const { source, end } of faulty.rings) expect(filesOf(end)).toEqual(filesOf(source));
  });

  test("there are at most 1.3 times as many requests", () => {
    expect(faulty.requests.length).toBeLessThanOrEqual(1.3 * sound.requests.length);
  });

  test("the log shows a random wait before each request that is made again", () => {
    const { requests, retries } = faulty;
    expect(retries.length).toBeGreaterThan(0.09 * requests.length);
    const parts = retries.map(({ attempt, wait }) => wait / (FIRST_WAIT * 2 ** (attempt - 1)));
    for (const part of parts) expect(part).toBeLessThanOrEqual(1);
    const mean = parts.reduce((sum, part) => sum + part, 0) / parts.length;
    expect(mean).toBeGreaterThan(0.3);
    expect(mean).toBeLessThan(0.7);
    for (const { error } of retries) expect(["transient", "short-read"]).toContain(error.code);
  });
});
