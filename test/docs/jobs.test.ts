import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeInput, SIZES } from "../../bench/jobs/input.mjs";
import * as byZarrita from "../../bench/jobs/zarrita.mjs";
import { toCelsius } from "../../examples/jobs/celsius.ts";
import { mapPixels } from "../../examples/jobs/map-page.ts";
import { pointSeries } from "../../examples/jobs/point-series.ts";
import { sliceService } from "../../examples/jobs/slice-service.ts";
import { type RequestServer, serveRequests } from "../../src/cli/server/serve-requests.ts";
import { storeHandler } from "../../src/flows/fetch-handler.ts";
import { openArray } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { root } from "../built-package.ts";
import { testFolder } from "../support/cli.ts";

const JOBS = ["celsius", "map-page", "point-series", "slice-service"];
let server: RequestServer;
let url = "";
let requests: string[] = [];

beforeAll(async () => {
  const store = new MemoryStore();
  await makeInput(store, { time: 16, latitude: 40, longitude: 72 });
  const answer = storeHandler(async () => store, { maxBytes: 2 ** 24 });
  server = await serveRequests(async (request) => {
    requests.push(new URL(request.url).pathname);
    return answer(request);
  });
  url = `${server.url}t2m`;
});
afterAll(() => server?.close());

/** What a job gives, and how many requests it makes. */
async function counted<T>(job: () => Promise<T>): Promise<{ readonly result: T; readonly requests: number }> {
  requests = [];
  const result = await job();
  return { result, requests: requests.length };
}

test.each(JOBS)("the example %s has at most 40 lines", (name) => {
  const text = readFileSync(join(root, `examples/jobs/${name}.ts`), "utf8");
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
});

test("the pixels of a map are zarrita's, with as many requests", async () => {
  const ours = await counted(() => mapPixels(url, 3));
  const theirs = await counted(() => byZarrita.mapPixels(url, 3));
  expect(ours.result).toEqual(theirs.result);
  expect(ours.result.length).toBe(4 * 40 * 72);
  expect(ours.requests).toBe(1 + 4);
  expect(ours.requests).toBeLessThanOrEqual(theirs.requests);
});

test("a series at a place is zarrita's", async () => {
  const ours = await counted(() => pointSeries(url, 51.5, -0.1));
  const theirs = await counted(() => byZarrita.pointSeries(url, 51.5, -0.1));
  expect(ours.result).toEqual(theirs.result);
  expect(ours.result).toHaveLength(16);
  expect(ours.requests).toBeLessThanOrEqual(theirs.requests);
});

test("a service of slices answers as zarrita's, and tells what is wrong", async () => {
  const services = [await sliceService(url), await byZarrita.sliceService(url)];
  for (const ranges of ["", "?slice=time=0:4,latitude=5", "?slice=longitude=70:"]) {
    const [ours, theirs] = await Promise.all(
      services.map(async (answer) => {
        const response = await answer(new Request(`http://localhost/${ranges}`));
        return [response.status, response.headers.get("x-shape"), await response.arrayBuffer()];
      }),
    );
    expect(ours).toEqual(theirs);
  }
  for (const answer of services) {
    expect((await answer(new Request("http://localhost/?slice=depth=0"))).status).toBe(400);
  }
});

test("degrees Celsius are zarrita's", async () => {
  const folder = await testFolder();
  const [ours, theirs] = [join(folder, "ours"), join(folder, "theirs")];
  await toCelsius(url, ours);
  await byZarrita.toCelsius(url, theirs);
  const [a, b] = await Promise.all([openArray(ours), openArray(theirs)]);
  expect([a.shape, a.chunkShape, a.attributes]).toEqual([b.shape, b.chunkShape, b.attributes]);
  expect((await a.slice().read()).data).toEqual((await b.slice().read()).data);
  expect(Object.keys(SIZES)).toEqual(a.dimensionNames);
});
