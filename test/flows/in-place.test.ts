// @module-tag slow
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copy } from "../../src/index.ts";
import { type MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { BUCKET, type S3Fault, type S3Server } from "../stores/s3-server.ts";
import { valuesIn } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

const FROM = "memory:in-place-source";
const TO = `s3://${BUCKET}/x.zarr`;

let server: S3Server;
let source: MemoryStore;
beforeEach(async () => {
  source = await makeHierarchy("v3", { consolidated: true });
  nameMemoryStore("in-place-source", source);
  server = await serveReachableBucket();
});
afterEach(async () => {
  nameMemoryStore("in-place-source", undefined);
  await server.close();
});

/** Runs `act` once, just after the request for a key has come. */
function when(isMeant: (method: string, key: string) => boolean, act: () => void): void {
  let isDone = false;
  const watch: S3Fault = (_, { method, key }) => {
    if (!isDone && isMeant(method, key)) {
      isDone = true;
      act();
    }
    server.faults.push(watch);
    return false;
  };
  server.faults.push(watch);
}

function puts(): string[] {
  return server.requests
    .filter(({ method, key }) => method === "PUT" && !key.endsWith("lock"))
    .map(({ key }) => key);
}

describe("a copy to where nothing can be renamed", () => {
  test("is read back before any document shows it, each key once", async () => {
    const report = await copy(FROM, TO, { verify: true });
    const order = server.requests.map(({ method, key }) => `${method} ${key}`);
    const firstDocument = order.findIndex((line) => /^PUT .*zarr\.json$/.test(line));
    const reads = order.slice(0, firstDocument).filter((line) => /^GET .*\/c\//.test(line));
    expect(reads.length).toBe(order.filter((line) => /^PUT .*\/c\//.test(line)).length);
    expect(order.slice(firstDocument).filter((line) => /^GET .*\/c\//.test(line))).toEqual([]);
    expect(report.keysVerified).toBe(report.keysWritten);
  });

  test("that was damaged on the way is never shown", async () => {
    when(
      (method, key) => method === "GET" && key.includes("/c/"),
      () => {
        for (const key of server.objects.keys())
          if (key.includes("/c/")) server.objects.set(key, Buffer.alloc(12));
      },
    );
    await expect(copy(FROM, TO, { verify: true })).rejects.toMatchObject({ code: "differs" });
    expect(puts().filter((key) => key.endsWith("zarr.json"))).toEqual([]);
    expect([...server.objects.keys()]).toEqual([]);
  });

  test.each([
    ["adds a key", () => server.objects.set("x.zarr/2024/t2m/c/9/9", Buffer.alloc(12))],
    ["removes one", () => server.objects.delete("x.zarr/2023/t2m/c/0/0")],
    ["makes one longer", () => server.objects.set("x.zarr/2023/t2m/c/0/0", Buffer.alloc(13))],
  ])("notes that somebody else %s meanwhile", async (_, change) => {
    when((method, key) => method === "PUT" && key.endsWith("time/c/0"), change);
    await expect(copy(FROM, TO)).rejects.toMatchObject({ code: "differs" });
    expect(puts().filter((key) => key.endsWith("zarr.json"))).toEqual([]);
  });

  test("puts documents of other hierarchies in it after their chunks", async () => {
    await givenKeys(Object.fromEntries(await valuesIn(await makeHierarchy("v2"), "other")), source);
    await copy(FROM, TO);
    const keys = puts();
    const isDocument = (key: string) => /\.z\w+$|zarr\.json$/.test(key);
    expect(keys.findIndex(isDocument)).toBe(keys.filter((key) => !isDocument(key)).length);
    expect(keys).toContain("x.zarr/other/2024/t2m/.zarray");
  });

  test.each([
    ["is shorter", (key: string) => source.set(key, new Uint8Array(5)), true],
    ["is gone", (key: string) => source.delete(key), true],
    ["is gone where listings tell no sizes", (key: string) => source.delete(key), false],
  ])("reports that a value of the source %s", async (_, change, withSizes) => {
    const list = source.list.bind(source);
    Object.assign(source, {
      list: (prefix: string) =>
        list(prefix).pipeThrough(
          new TransformStream({
            async transform({ key, size }, controller) {
              if (key === "2023/u10/c/1/1") await change(key);
              controller.enqueue(withSizes ? { key, size } : { key });
            },
          }),
        ),
    });
    await expect(copy(FROM, TO)).rejects.toMatchObject({
      code: "source-changed",
      details: { key: "2023/u10/c/1/1" },
    });
    expect([...server.objects.keys()]).toEqual([]);
  });
});
