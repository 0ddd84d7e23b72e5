// @module-tag slow
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copy } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { crc32 } from "../../src/util/crc32.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { valuesIn } from "../support/consume.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

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
  const store = new DirectoryStore(path);
  for (const [key, bytes] of values()) await store.set(key, bytes);
  return path;
}

/** Size and checksum of each value: comparing megabytes one by one takes minutes. */
function digests(found: Iterable<readonly [string, Uint8Array]>): Map<string, string> {
  return new Map([...found].map(([key, bytes]) => [key, `${bytes.length} bytes, CRC-32 ${crc32(bytes)}`]));
}

async function allOf(path: string): Promise<Map<string, string>> {
  return digests(await valuesIn(new DirectoryStore(path)));
}

test.each([{}, { verify: true }, { fsync: true }, { maxMemory: 200_000 }])(
  "values of all sizes go from directory to zip to directory: %o",
  async (options) => {
    const source = await makeDirectory();
    const [zip, copied, unpacked] = [folder.next("a.zip"), folder.next("b.zarr"), folder.next("c.zarr")];
    const expected = [...values()].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [from, to] of [
      [source, copied],
      [source, zip],
      [zip, unpacked],
    ] as const) {
      const report = await copy(from, to, options);
      const bytes = expected.reduce((sum, [, value]) => sum + value.length, 0);
      expect(report).toMatchObject({ keysWritten: expected.length, bytesWritten: bytes });
      if ("verify" in options) expect(report.keysVerified).toBe(expected.length);
    }
    expect([...(await allOf(copied))]).toEqual([...digests(expected)]);
    expect([...(await allOf(unpacked))]).toEqual([...digests(expected)]);
  },
);

test("copies of files that cannot be written can be", async () => {
  const source = await makeDirectory();
  for (const name of ["1", "5"]) chmodSync(`${source}/${name}`, 0o444);
  const target = folder.next("b.zarr");
  await copy(source, target);
  for (const name of ["1", "5"]) expect(statSync(`${target}/${name}`).mode & 0o200).toBe(0o200);
});

test("a value that cannot be read ends the copy, and leaves nothing", async () => {
  const source = await makeDirectory();
  const target = folder.next("b.zarr");
  writeFileSync(`${source}/../secret`, "s");
  const { symlinkSync } = await import("node:fs");
  symlinkSync("../secret", `${source}/link`);
  await expect(copy(source, target)).rejects.toMatchObject({ code: "path-not-allowed" });
  expect(() => readdirSync(target)).toThrow();
});

describe("from S3 to S3", () => {
  let server: S3Server;
  beforeEach(async () => {
    server = await serveReachableBucket();
    for (const [key, bytes] of values()) server.objects.set(`source.zarr/${key}`, Buffer.from(bytes));
  });
  afterEach(() => server.close());
  const readKeys = () =>
    server.requests.flatMap(({ method, key }) => (method === "GET" && key !== "" ? [key] : []));
  const copied = () =>
    new Map(
      [...server.objects].flatMap(([key, value]) => {
        const [, rest] = /^copy.zarr\/(.*)$/.exec(key) ?? [];
        return rest === undefined ? [] : [[rest, new Uint8Array(value)]];
      }),
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
