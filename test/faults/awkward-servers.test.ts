// @module-tag slow
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copy, rechunk } from "../../src/flows/index.ts";
import { namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { ListableStore } from "../../src/stores/store.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { serveValues } from "../stores/value-server.ts";
import { digestOf, valuesIn } from "../support/consume.ts";
import { makeArray, type Recipe } from "../support/made-array.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket, stubEnvironment } from "../support/s3-environment.ts";
import { until } from "../support/until.ts";
import { type ConnectionFront, serveFront, type Treatment } from "./connection-front.ts";

withoutPauses();

const recipe: Recipe = { shape: [40, 24], chunks: [4, 4], order: "C", itemSize: 4, missing: 0, seed: 7 };
const CHUNKS = 60;
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

const TREATMENTS: Readonly<Record<string, Treatment>> = {
  "closes connections that idle": ({ client, server: end }) => {
    let seen = 0;
    const closeIf = (isIdle: () => boolean) => {
      if (!isIdle()) return;
      client.destroy();
      end.destroy();
    };
    return {
      asked(bytes) {
        seen++;
        return bytes;
      },
      answered(bytes) {
        client.write(bytes);
        const now = ++seen;
        // what has come meanwhile is heard of before
        setTimeout(() => setImmediate(closeIf, () => seen === now), IDLE);
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
      client.write(bytes.subarray(0, bytes.length >> 1), () => client.resetAndDestroy());
    },
  }),
};

describe.each(Object.entries(TREATMENTS))("a server that %s", (_name, treatment) => {
  test("gets and gives all that is copied and rechunked", async () => {
    front = await serveFront(server.endpoint, treatment);
    stubEnvironment({ AWS_ENDPOINT_URL: front.endpoint });
    await copy("memory:awkward", `s3://${BUCKET}/a.zarr`);
    await rechunk(`s3://${BUCKET}/a.zarr`, `s3://${BUCKET}/b.zarr`, { chunks: [40, 8] });
    await copy(`s3://${BUCKET}/b.zarr`, "memory:awkward-back");
    expect(await digestOf("memory:awkward-back")).toBe(expected);
    const left = [...server.objects.keys()].filter((key) => key.includes(".zarrflow"));
    expect(left).toEqual([]);
    expect(front.connections).toBeGreaterThan(1);
  });

  test("gives all that a web server has", async () => {
    const web = await serveValues(await valuesIn(namedMemoryStore("awkward") as ListableStore));
    try {
      front = await serveFront(web.url, treatment);
      await rechunk(`${front.endpoint}/data`, "memory:awkward-back", { chunks: [40, 8] });
      expect(await digestOf("memory:awkward-back")).toBe(expected);
      expect(front.connections).toBeGreaterThan(1);
    } finally {
      await web.close();
    }
  });
});

test("a server that answers for one key after half of the others keeps up what comes beside it", async () => {
  await copy("memory:awkward", `s3://${BUCKET}/a.zarr`);
  const others = new Set<string>();
  const SLOW = "a.zarr/3.3";
  let asked = 0;
  server.fault = async (_response, { method, key }) => {
    if (method !== "GET") return false;
    if (key === SLOW) asked++;
    else others.add(key);
    if (key === SLOW) await until(() => others.size > CHUNKS / 2);
    return false;
  };
  await copy(`s3://${BUCKET}/a.zarr`, "memory:awkward-back", { concurrency: 4 });
  expect(await digestOf("memory:awkward-back")).toBe(expected);
  // made again where its answer is late, once for each time that others are
  expect(asked).toBeLessThanOrEqual(3);
});
