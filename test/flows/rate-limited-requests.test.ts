// @module-tag slow
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { context, copy, rechunk, slice } from "../../src/index.ts";
import { type MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import * as pauses from "../../src/util/pause.ts";
import { BUCKET, type S3Fault, type S3Server } from "../stores/s3-server.ts";
import { type Fault, serveValues } from "../stores/value-server.ts";
import { valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { settled } from "../support/until.ts";

const CHUNKS = 20;
const CHUNK_BYTES = 1000;
const PER_SECOND = 40;

/** An array of chunks that are no smaller when they are encoded. */
function makeArray(chunkBytes = CHUNK_BYTES, count = CHUNKS): Promise<MemoryStore> {
  const shape = [count * chunkBytes];
  return given({ shape, chunks: [chunkBytes], dataType: "uint8", codec: "none", values: () => 1 });
}

/** Milliseconds that have passed: they do for those who pause, when all is done that can be done before. */
let now: number;
const pausing: { readonly until: number; readonly goOn: () => void }[] = [];

beforeEach(() => {
  now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  vi.spyOn(Math, "random").mockReturnValue(0);
  vi.spyOn(pauses, "pause").mockImplementation(
    (ms) => new Promise((goOn) => pausing.push({ until: now + ms, goOn })),
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  nameMemoryStore("paced", undefined);
  nameMemoryStore("paced-too", undefined);
});

async function letPass(run: Promise<unknown>): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  run.then(end, end);
  while (!isOver) {
    await settled();
    const [next] = pausing.sort((a, b) => a.until - b.until).splice(0, 1);
    if (!next) continue;
    now = Math.max(now, next.until);
    next.goOn();
  }
  await run;
}

/** None came before its turn, but for the first of each run. */
function expectPace(times: readonly number[], perSecond: number, runs = 1): void {
  expect(times.filter((at, i) => at < ((i + 1 - runs) / perSecond) * 1000 - 1e-6)).toEqual([]);
}

describe("requests of a second, as a bucket sees them", () => {
  let server: S3Server;
  let times: number[];
  beforeEach(async () => {
    server = await serveReachableBucket({ pageSize: 4 });
    times = [];
  });
  afterEach(() => server.close());

  /** Notes when requests come, and refuses every `n`-th as too many. */
  const watched = (n: number): S3Fault => {
    return (response) => {
      times.push(performance.now());
      if (times.length % n !== 0) return false;
      response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
      return true;
    };
  };
  const requestsOf = (isMeant: (query: URLSearchParams) => boolean) =>
    server.requests.filter(({ query }) => isMeant(query)).length;
  const SOURCE = `s3://${BUCKET}/x.zarr`;
  const putSource = async () => {
    for (const [key, bytes] of await valuesIn(await makeArray(), "x.zarr"))
      server.objects.set(key, Buffer.from(bytes));
  };

  it("are no more than asked for, with pages of listings and requests that are made again", async () => {
    await putSource();
    server.fault = watched(7);
    await letPass(copy(SOURCE, "memory:paced", { requestsPerSecond: PER_SECOND }));
    expect(requestsOf((query) => query.has("continuation-token"))).toBeGreaterThan(3);
    expectPace(times, PER_SECOND);
  });

  it("are no more than asked for at a target, from the first look to the last document", async () => {
    server.fault = watched(Number.POSITIVE_INFINITY);
    const source = await makeArray();
    const target = `s3://${BUCKET}/out.zarr`;
    for (const ifExists of ["error", "replace", "update"] as const)
      await letPass(copy(source, target, { requestsPerSecond: PER_SECOND, ifExists }));
    expect(times.length).toBeGreaterThan(3 * CHUNKS);
    expectPace(times, PER_SECOND, 3);
  });

  it("are no more than asked for where parts of a zip are uploaded", async () => {
    server.fault = watched(Number.POSITIVE_INFINITY);
    const source = await makeArray(2 ** 20, 9);
    await letPass(copy(source, `s3://${BUCKET}/out.zip`, { requestsPerSecond: 10 }));
    expect(requestsOf((query) => query.has("partNumber"))).toBeGreaterThan(1);
    expectPace(times, 10);
  });

  it("are no more of all calls of a context together", async () => {
    await putSource();
    server.fault = watched(Number.POSITIVE_INFINITY);
    const how = { context: context({ requestsPerSecond: PER_SECOND }) };
    const copies = ["memory:paced", "memory:paced-too"].map((target) => copy(SOURCE, target, how));
    await letPass(Promise.all([...copies, slice(SOURCE, {}, how).read()]));
    await letPass(copy(await makeArray(), `s3://${BUCKET}/out.zarr`, how));
    expect(times.length).toBeGreaterThan(4 * CHUNKS);
    expectPace(times, PER_SECOND);
  });

  it("leave the copy to the server where it can copy", async () => {
    await putSource();
    await letPass(copy(SOURCE, `s3://${BUCKET}/y.zarr`, { requestsPerSecond: 200 }));
    expect(server.objects.size).toBe(2 * (CHUNKS + 1));
    expect(server.requests.filter(({ method, key }) => method === "GET" && /\/c\//.test(key))).toEqual([]);
  });
});

describe("requests of a second, as a web server sees them", () => {
  it("are no more than asked for, with those that are made again or sent on", async () => {
    const server = await serveValues(await valuesIn(await makeArray()));
    const times: number[] = [];
    const noted: Fault = (response, { url }) => {
      times.push(performance.now());
      server.faults.push(noted);
      if (times.length % 7 === 0) response.writeHead(503).end();
      else if (times.length % 5 === 0) response.writeHead(302, { location: url }).end();
      else return false;
      return true;
    };
    server.faults.push(noted);
    const how = { chunks: [2 * CHUNK_BYTES], requestsPerSecond: PER_SECOND };
    await letPass(rechunk(server.url, "memory:paced", how));
    expect(times.length).toBeGreaterThan(CHUNKS * 1.3);
    expectPace(times, PER_SECOND);
    await server.close();
  });

  it("come after what the program wants to do before each", async () => {
    const server = await serveValues(await valuesIn(await makeArray()));
    let asked = 0;
    const beforeRequest = async () => void asked++;
    await letPass(copy(server.url, "memory:paced", { beforeRequest, requestsPerSecond: 1000 }));
    expect(asked).toBe(server.requests.length);
    expect(asked).toBeGreaterThan(CHUNKS);
    await server.close();
  });
});
