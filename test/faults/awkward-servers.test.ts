// @module-tag slow
// @module-tag process
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copy, digest, rechunk } from "../../src/flows/index.ts";
import { namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { ListableStore, Store } from "../../src/stores/store.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { serveValues } from "../stores/value-server.ts";
import { makeArray, type Recipe } from "../support/made-array.ts";
import { serveReachableBucket, stubEnvironment } from "../support/s3-environment.ts";
import { type ConnectionFront, serveFront, type Treatment } from "./connection-front.ts";

const recipe: Recipe = { shape: [60, 40], chunks: [4, 4], order: "C", itemSize: 4, missing: 0, seed: 7 };
const CHUNKS = 150;
/** Milliseconds after an answer at which a connection is closed that idles. */
const IDLE = 2;
/** Every so many connections, one is reset amid an answer. */
const RESET = 4;

let server: S3Server;
let front: ConnectionFront | undefined;
let expected: string;

beforeEach(async () => {
  server = await serveReachableBucket();
  nameMemoryStore("awkward", (await makeArray(recipe)).store);
  expected = await digestOf("memory:awkward");
});
afterEach(async () => {
  front?.close();
  nameMemoryStore("awkward", undefined);
  nameMemoryStore("awkward-back", undefined);
  await server.close();
});

async function digestOf(url: string): Promise<string> {
  const hashes: string[] = [];
  for await (const { sha256 } of digest(url)) hashes.push(sha256);
  return hashes.join();
}

const TREATMENTS: Readonly<Record<string, Treatment>> = {
  "closes connections that idle": ({ client, server: end }) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    return {
      asked(bytes) {
        clearTimeout(timer);
        return bytes;
      },
      answered(bytes) {
        client.write(bytes);
        clearTimeout(timer);
        timer = setTimeout(() => {
          client.destroy();
          end.destroy();
        }, IDLE);
      },
    };
  },
  "closes each connection after one answer": () => ({
    asked: (bytes) =>
      Buffer.from(bytes.toString("latin1").replace("Connection: keep-alive", "Connection: close"), "latin1"),
  }),
  "answers as HTTP/1.0": ({ client }) => ({
    asked: (bytes) =>
      Buffer.from(bytes.toString("latin1").replace(" HTTP/1.1\r\n", " HTTP/1.0\r\n"), "latin1"),
    answered(bytes) {
      client.write(Buffer.from(bytes.toString("latin1").replace(/^HTTP\/1\.1 /, "HTTP/1.0 "), "latin1"));
    },
  }),
  "resets connections amid an answer": ({ client, number }) => ({
    answered(bytes) {
      if (number % RESET !== 1) return client.write(bytes);
      client.write(bytes.subarray(0, bytes.length >> 1));
      setTimeout(() => client.resetAndDestroy(), 1);
    },
  }),
};

describe.each(Object.entries(TREATMENTS))("a server that %s", (_name, treatment) => {
  test("gets and gives all that is copied and rechunked", async () => {
    front = await serveFront(server.endpoint, treatment);
    stubEnvironment({ AWS_ENDPOINT_URL: front.endpoint });
    await copy("memory:awkward", `s3://${BUCKET}/a.zarr`);
    await rechunk(`s3://${BUCKET}/a.zarr`, `s3://${BUCKET}/b.zarr`, { chunks: [60, 8] });
    await copy(`s3://${BUCKET}/b.zarr`, "memory:awkward-back");
    expect(await digestOf("memory:awkward-back")).toBe(expected);
    const left = [...server.objects.keys()].filter((key) => key.includes(".zarrflow"));
    expect(left).toEqual([]);
    expect(front.connections).toBeGreaterThan(1);
  });

  test("gives all that a web server has", async () => {
    const values = new Map<string, Uint8Array>();
    const made = namedMemoryStore("awkward") as ListableStore;
    for await (const { key } of made.list("")) values.set(key, (await made.get(key)) ?? new Uint8Array());
    const web = await serveValues(values);
    try {
      front = await serveFront(web.url, treatment);
      await rechunk(`${front.endpoint}/data`, "memory:awkward-back", { chunks: [60, 8] });
      expect(await digestOf("memory:awkward-back")).toBe(expected);
      expect(front.connections).toBeGreaterThan(1);
    } finally {
      await web.close();
    }
  });
});

test("a server that is a thousand times slower for one key keeps up what comes beside it", async () => {
  await copy("memory:awkward", `s3://${BUCKET}/a.zarr`);
  const answered: string[] = [];
  const SLOW = "a.zarr/3.3";
  server.fault = async (_response, { method, key }) => {
    if (method === "GET" && key === SLOW) await new Promise((resolve) => setTimeout(resolve, 1500));
    if (method === "GET") answered.push(key);
    return false;
  };
  await copy(`s3://${BUCKET}/a.zarr`, "memory:awkward-back", { io: 4 });
  expect(await digestOf("memory:awkward-back")).toBe(expected);
  const chunks = answered.filter((key) => /\/\d+\.\d+$/.test(key));
  expect(new Set(chunks).size).toBe(CHUNKS);
  // made again where its answer is late, and answered as late
  expect(chunks.length - CHUNKS).toBeLessThanOrEqual(2);
  expect(chunks.indexOf(SLOW)).toBeGreaterThan(CHUNKS / 2);
  const store: Store | undefined = namedMemoryStore("awkward-back");
  expect(await store?.get("3.3")).toBeDefined();
});
