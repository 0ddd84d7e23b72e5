// @module-tag slow
import { chmodSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copy } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { type MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { crc32 } from "../../src/util/crc32.ts";
import { BUCKET, type S3Fault, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
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

const puts = () =>
  server.requests.flatMap(({ method, key }) => (method === "PUT" && !key.endsWith("lock") ? [key] : []));

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
    const damage = () => {
      for (const key of server.objects.keys())
        if (key.includes("/c/")) server.objects.set(key, Buffer.alloc(12));
    };
    when((method, key) => method === "GET" && key.includes("/c/"), damage);
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
    const error = { code: "source-changed", details: { key: "2023/u10/c/1/1" } };
    await expect(copy(FROM, TO)).rejects.toMatchObject(error);
    expect([...server.objects.keys()]).toEqual([]);
  });
});

const folder = temporaryFolder();
const KIB = 1024;
const ZARRAY = { zarr_format: 2, shape: [8], chunks: [1], dtype: "|u1", fill_value: 0 };
const document = JSON.stringify({ ...ZARRAY, compressor: null, filters: null, order: "C" });

/** Values of all kinds of sizes, of which some are no chunks. */
function values(): Map<string, Uint8Array> {
  const sizes = [0, 1, 4 * KIB, 32 * KIB, 33 * KIB, 300 * KIB, 9 * 1024 * KIB];
  const found = new Map<string, Uint8Array>([[".zarray", new TextEncoder().encode(document)]]);
  for (const [i, size] of sizes.entries()) {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at++) bytes[at] = (at * 7 + i) ^ (at >> 8);
    found.set(i % 2 ? `${i}` : `notes/${i}/x`, bytes);
  }
  return found;
}

async function makeDirectory(): Promise<string> {
  const path = folder.next("source.zarr");
  await givenKeys(Object.fromEntries(values()), new DirectoryStore(path));
  return path;
}

/** Size and checksum of each value: comparing megabytes one by one takes minutes. */
function digests(found: Iterable<readonly [string, Uint8Array]>): Map<string, string> {
  return new Map([...found].map(([key, bytes]) => [key, `${bytes.length} bytes, CRC-32 ${crc32(bytes)}`]));
}

test.each([{}, { verify: true }, { fsync: true }, { maxMemory: 200_000 }])(
  "values of all sizes go from directory to zip to directory: %o",
  async (options) => {
    const source = await makeDirectory();
    const [zip, copied, unpacked] = [folder.next("a.zip"), folder.next("b.zarr"), folder.next("c.zarr")];
    const expected = values();
    const bytesWritten = [...expected.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [from, to] of [
      [source, copied],
      [source, zip],
      [zip, unpacked],
    ] as const) {
      const report = await copy(from, to, options);
      expect(report).toMatchObject({ keysWritten: expected.size, bytesWritten });
      if ("verify" in options) expect(report.keysVerified).toBe(expected.size);
    }
    for (const place of [copied, unpacked])
      expect(digests(await valuesIn(new DirectoryStore(place)))).toEqual(digests(expected));
  },
);

test("copies of files that cannot be written can be", async () => {
  const [source, target] = [await makeDirectory(), folder.next("b.zarr")];
  for (const name of ["1", "5"]) chmodSync(`${source}/${name}`, 0o444);
  await copy(source, target);
  for (const name of ["1", "5"]) expect(statSync(`${target}/${name}`).mode & 0o200).toBe(0o200);
});

test("a value that cannot be read ends the copy, and leaves nothing", async () => {
  const source = await makeDirectory();
  const target = folder.next("b.zarr");
  writeFileSync(`${source}/../secret`, "s");
  symlinkSync("../secret", `${source}/link`);
  await expect(copy(source, target)).rejects.toMatchObject({ code: "path-not-allowed" });
  expect(() => readdirSync(target)).toThrow();
});

describe("from S3 to S3", () => {
  beforeEach(() => {
    for (const [key, bytes] of values()) server.objects.set(`source.zarr/${key}`, Buffer.from(bytes));
  });
  const readKeys = () =>
    server.requests.flatMap(({ method, key }) => (method === "GET" && key !== "" ? [key] : []));
  const copied = () =>
    [...server.objects].flatMap(([key, value]): [string, Uint8Array][] =>
      key.startsWith("copy.zarr/") ? [[key.slice("copy.zarr/".length), value]] : [],
    );

  test("no value is read: the server copies", async () => {
    const { keysWritten } = await copy(`s3://${BUCKET}/source.zarr`, `s3://${BUCKET}/copy.zarr`);
    expect(keysWritten).toBe(values().size);
    expect(digests(copied())).toEqual(digests(values()));
    const isValue = (key: string) => /^(?:notes\/.*|\d+)$/.test(key.replace(/^\w+\.zarr\//, ""));
    expect(readKeys().filter(isValue)).toEqual([]);
    const puts = server.requests.filter(({ method, key }) => method === "PUT" && isValue(key));
    expect(puts).toHaveLength(values().size - 1);
    for (const { body } of puts) expect(body).toHaveLength(0);
  });

  test("where it is verified, all is read", async () => {
    const { keysVerified } = await copy(`s3://${BUCKET}/source.zarr`, `s3://${BUCKET}/copy.zarr`, {
      verify: true,
    });
    expect(keysVerified).toBe(values().size);
    expect(digests(copied())).toEqual(digests(values()));
    expect(readKeys()).toContain("source.zarr/5");
  });
});
