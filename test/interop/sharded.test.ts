import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import { beforeAll, describe, expect, test } from "vitest";
import * as zarrita from "zarrita";
import { convert, rechunk } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { type GivenArray, given } from "../support/given.ts";
import { hasPython, readByZarrPython } from "./python.ts";
import { hasShared } from "./shared.ts";

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

const folder = temporaryFolder();

describe("shards that we wrote", () => {
  let sha256 = "";
  const made = (name: string) => join(folder.path, "made.zarr", name);
  beforeAll(async () => {
    const members: Record<string, GivenArray> = {};
    for (const [name, grid] of Object.entries(arrays))
      members[name] = { shape: [30, 50], dataType: "float32", ...grid, values: items };
    await given({ at: made(""), arrays: members });
    sha256 = await digestOf(made("plain"));
    await rechunk(made("zstd"), made("rechunked"), { chunks: [3, 7], shards: [15, 49] });
    await rechunk(made("zstd"), made("resharded"), { chunks: [5, 10], shards: [10, 50] });
    await convert(made("blosc"), join(folder.path, "v2.zarr"), { to: "v2" });
    const rows = { shape: [1024, 1024], chunks: [64, 1024], dataType: "float64", codec: "none" };
    await given({ at: join(folder.path, "rows.zarr"), ...rows, values: (i) => i / 3 });
    const columns = { chunks: [128, 64], shards: [-1, -1], maxMemory: "4MB" };
    await rechunk(join(folder.path, "rows.zarr"), made("streamed"), columns);
  });

  test("hold in v2 what they held", async () => {
    expect(await digestOf(join(folder.path, "v2.zarr"))).toBe(sha256);
  });

  // zarrita knows neither an index at the start, nor nested shards, nor transposed inner chunks.
  test.each(["plain", "zstd", "rechunked", "resharded"])("are read by zarrita, %s", async (name) => {
    expect(await readByZarrita(made(name))).toEqual(items);
  });

  test("are read by zarrita, streamed", async () => {
    const row = await readByZarrita(made("streamed"), [777, null]);
    expect([...row]).toEqual(Array.from({ length: 1024 }, (_, i) => (777 * 1024 + i) / 3));
  });

  test.runIf(hasPython && hasShared)("are read by zarr-python", async () => {
    const { arrays: read } = await readByZarrPython(made(""), 3);
    const digests = Object.fromEntries(read.map((array) => [array.path, array.sha256]));
    const { streamed, ...others } = digests;
    expect(streamed).toBe(await digestOf(join(folder.path, "rows.zarr")));
    for (const name of [...Object.keys(arrays), "rechunked", "resharded"])
      expect(others[name], name).toBe(sha256);
    expect((await readByZarrPython(join(folder.path, "v2.zarr"))).arrays).toMatchObject([{ sha256 }]);
  });
});

async function readByZarrita(path: string, part: (number | null)[] | null = null): Promise<Float64Array> {
  const array = await zarrita.open(zarrita.root(new FileSystemStore(path)), { kind: "array" });
  return (await zarrita.get(array, part)).data as Float64Array;
}
