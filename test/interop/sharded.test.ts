import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as zarrita from "zarrita";
import { convert, digest, rechunk } from "../../src/index.ts";
import { digestOf } from "../support/consume.ts";
import { type GivenArray, given } from "../support/given.ts";
import { hasPython, runPython } from "./python.ts";
import { hasShared, shared } from "./shared.ts";

const BYTES = { name: "bytes", configuration: { endian: "little" } };
const INDEX = [BYTES, { name: "crc32c" }];
const sharding = (chunk_shape: readonly number[], codecs: readonly object[], others: object = {}) => ({
  name: "sharding_indexed",
  configuration: { chunk_shape, codecs, index_codecs: INDEX, index_location: "end", ...others },
});
const zstd = { name: "zstd", configuration: { level: 3, checksum: false } };
const transpose = { name: "transpose", configuration: { order: [1, 0] } };

/** Arrays of 30 x 50 in shards of all kinds; the last third is the fill value. */
const arrays = {
  plain: { chunks: [5, 10], shards: [20, 20], codec: "none" },
  zstd: { chunks: [5, 10], shards: [20, 20], codec: "zstd:3" },
  blosc: { chunks: [5, 10], shards: [-1, -1], codec: "blosc:lz4:5:shuffle" },
  "start-of-value": {
    chunks: [20, 20],
    codecs: [sharding([5, 10], [BYTES, zstd], { index_location: "start" })],
  },
  nested: { chunks: [20, 40], codecs: [sharding([10, 20], [sharding([5, 10], [BYTES, zstd])])] },
  transposed: { chunks: [20, 40], codecs: [transpose, sharding([10, 5], [BYTES])] },
  "transposed-inside": { chunks: [20, 40], codecs: [sharding([5, 10], [transpose, BYTES, zstd])] },
  "codec-after": { chunks: [20, 40], codecs: [sharding([5, 10], [BYTES]), { name: "crc32c" }] },
} as const;
const items = Float32Array.from({ length: 1500 }, (_, i) => (i < 1000 ? i / 8 : 0));

describe("shards that we wrote", () => {
  let folder: string;
  let sha256 = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "zarrflow-sharded-"));
    const members: Record<string, GivenArray> = {};
    for (const [name, grid] of Object.entries(arrays))
      members[name] = { shape: [30, 50], dataType: "float32", ...grid, values: items };
    await given({ at: join(folder, "made.zarr"), arrays: members });
    const made = (name: string) => join(folder, "made.zarr", name);
    sha256 = await digestOf(made("plain"));
    await rechunk(made("zstd"), join(folder, "rechunked.zarr"), { chunks: [3, 7], shards: [15, 49] });
    await rechunk(made("zstd"), join(folder, "resharded.zarr"), { chunks: [5, 10], shards: [10, 50] });
    await convert(made("blosc"), join(folder, "v2.zarr"), { to: "v2" });
    const rows = { shape: [1024, 1024], chunks: [64, 1024], dataType: "float64", codec: "none" };
    await given({ at: join(folder, "streamed.zarr"), ...rows, values: (i) => i / 3 });
    await rechunk(join(folder, "streamed.zarr"), join(folder, "large.zarr"), {
      chunks: [128, 64],
      shards: [-1, -1],
      maxMemory: "4MB",
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("hold in v2 what they held", async () => {
    for await (const array of digest(join(folder, "v2.zarr"))) expect(array.sha256).toBe(sha256);
  });

  // zarrita knows neither an index at the start, nor nested shards, nor transposed inner chunks.
  test.each(["plain", "zstd"])("are read by zarrita, %s", async (name) => {
    const root = zarrita.root(new FileSystemStore(join(folder, "made.zarr")));
    const array = await zarrita.open(root.resolve(name), { kind: "array" });
    const { data } = await zarrita.get(array);
    expect(data).toEqual(items);
  });

  test("are read by zarrita, rechunked and streamed", async () => {
    for (const name of ["rechunked.zarr", "resharded.zarr"]) {
      const root = zarrita.root(new FileSystemStore(join(folder, name)));
      const { data } = await zarrita.get(await zarrita.open(root, { kind: "array" }));
      expect(data).toEqual(items);
    }
    const root = zarrita.root(new FileSystemStore(join(folder, "large.zarr")));
    const { data } = await zarrita.get(await zarrita.open(root, { kind: "array" }), [777, null]);
    expect([...(data as Float64Array)]).toEqual(Array.from({ length: 1024 }, (_, i) => (777 * 1024 + i) / 3));
  });

  describe.runIf(hasPython && hasShared)("by Python", () => {
    const verify = `${shared}corpus/verify_written.py`;

    test("zarr-python reads all of them", async () => {
      const { arrays: read } = (await runPython(verify, join(folder, "made.zarr"), "--format", "3")) as {
        arrays: { path: string; sha256: string }[];
      };
      expect(Object.fromEntries(read.map((array) => [array.path, array.sha256]))).toEqual(
        Object.fromEntries(Object.keys(arrays).map((name) => [name, sha256])),
      );
    });

    test.each(["rechunked.zarr", "resharded.zarr", "large.zarr", "v2.zarr"])(
      "zarr-python reads %s",
      async (name) => {
        const { arrays: read } = (await runPython(verify, join(folder, name))) as {
          arrays: { sha256: string }[];
        };
        for await (const array of digest(join(folder, name)))
          expect(read).toMatchObject([{ sha256: array.sha256 }]);
      },
    );
  });
});
