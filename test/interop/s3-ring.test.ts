// @module-tag long
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { copy } from "../../src/index.ts";
import { onRetry, type Retry } from "../../src/stores/remote/retry-requests.ts";
import { isListable } from "../../src/stores/store.ts";
import { openStore, parseStoreUrl } from "../../src/stores/url.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues } from "../stores/value-server.ts";
import { digestsOf, valuesIn } from "../support/consume.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { FAULTS, type FaultProxy, oneOf, type ProxiedRequest, proxyTo } from "./fault-proxy.ts";
import { hasPython, runPython } from "./python.ts";
import { type Bucket, bucketAt, environmentOf, servers } from "./s3-servers.ts";
import { hasShared, knownDigests, shared } from "./shared.ts";
import { filesOf } from "./trees.ts";

const folder = temporaryFolder();

/** The sets of real data that go round. */
const datasets = ["era5-uk-t2m.zarr", "basin-mask.zarr", "era-interim-uvz.v3.zarr"];

interface Ring {
  readonly source: string;
  /** URLs where copies of the source come to be, each of the one before. */
  readonly stops: readonly string[];
  /** The stop in memory. */
  readonly memory: string;
  /** The folder that is the last stop. */
  readonly end: string;
}

/** A ring of copies: a zip, a zip in S3, keys in S3, a folder deep in others, memory, a folder. */
function ringOf(name: string, { bucket, folder }: { bucket: string; folder: string }): Ring {
  const prefix = `s3://${bucket}/${randomUUID()}`;
  const memory = `memory:${randomUUID()}`;
  const end = join(folder, "end", name);
  return {
    source: `${shared}data/${name}`,
    stops: [
      join(folder, `${name}.zip`),
      `${prefix}/${name}.zip`,
      `${prefix}/${name}`,
      join(folder, "a", "folder", "deep in others", name),
      memory,
      end,
    ],
    memory,
    end,
  };
}

/** Copies a source from stop to stop. */
async function goRound({ source, stops }: Ring): Promise<void> {
  let from = source;
  for (const stop of stops) {
    await copy(from, stop);
    from = stop;
  }
}

describe.runIf(hasShared).each(servers)("the ring through $name", ({ name: server, openBucket }) => {
  let bucket: Bucket;

  beforeAll(async () => {
    bucket = await openBucket();
    stubEnvironment(environmentOf(bucket));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await bucket.close();
  });

  describe.each(datasets)("%s", (name) => {
    let ring: Ring;
    beforeAll(async () => {
      ring = ringOf(name, { bucket: bucket.name, folder: join(folder.path, server) });
      await goRound(ring);
    });

    test("is byte for byte the same at the end", () => {
      expect(filesOf(ring.end)).toEqual(filesOf(ring.source));
    });

    test("has every key, byte for byte, at every stop", async () => {
      const source = hashesOf(await valuesOf(ring.source));
      for (const stop of ring.stops) expect(hashesOf(await valuesOf(stop)), stop).toEqual(source);
    });

    test("keeps its digests at every stop", async () => {
      for (const stop of ring.stops) expect(await digestsOf(stop), stop).toEqual(knownDigests(name));
    });

    test.runIf(hasPython)("zarr-python reads the same values at every stop", async () => {
      const memory = await serveValues(await valuesOf(ring.memory));
      try {
        const stops = ring.stops.map((stop) => (stop === ring.memory ? memory.url : stop));
        const digests = await runPython("hash_remote.py", ...stops);
        expect(digests).toEqual(Object.fromEntries(stops.map((stop) => [stop, knownDigests(name)])));
      } finally {
        await memory.close();
      }
    });
  });
});

/** Every value of a store, by key. */
async function valuesOf(url: string): Promise<Map<string, Uint8Array>> {
  const store = await openStore(parseStoreUrl(url).spec);
  try {
    if (!isListable(store)) throw new Error(`${url} cannot be listed`);
    return await valuesIn(store);
  } finally {
    await store.close?.();
  }
}

function hashesOf(values: ReadonlyMap<string, Uint8Array>): Record<string, string> {
  const hash = (value: Uint8Array) => createHash("sha256").update(value).digest("hex");
  return Object.fromEntries([...values].map(([key, value]) => [key, hash(value)]));
}

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
  let sound: Round;
  let faulty: Round;

  beforeAll(async () => {
    bucket = await openBucket();
    sound = await roundThrough(await proxyTo(bucket.endpoint));
    faulty = await roundThrough(await proxyTo(bucket.endpoint, oneOf(10)));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await bucket.close();
  });

  async function roundThrough(proxy: FaultProxy): Promise<Round> {
    stubEnvironment(environmentOf(bucketAt(proxy.endpoint, bucket)));
    const retries: Retry[] = [];
    const endWatch = onRetry((retry) => retries.push(retry));
    try {
      const places = { bucket: bucket.name, folder: folder.next("round") };
      const rings = datasets.map((name) => ringOf(name, places));
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
