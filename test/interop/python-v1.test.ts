import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { convert, create, digest, type NewArray, rechunk } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPythonV1, runPythonV1 } from "./python.ts";
import { hasShared, shared } from "./shared.ts";

const folder = temporaryFolder();

/** What the reference tells of an array. */
interface Read {
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  readonly order: string;
  readonly compression: string;
  readonly attributes: unknown;
  readonly initialized: number;
  readonly sha256: string;
}

const read = async (...paths: readonly string[]) =>
  (await runPythonV1("read_v1.py", ...paths)) as Record<string, Read>;

async function sha256Of(path: string): Promise<string> {
  for await (const { sha256 } of digest(path)) return sha256;
  return "";
}

const shape = [7, 10];
const numbers = Array.from({ length: 42 }, (_, i) => (i * i) % 120);
const attributes = { units: "K", deep: { a: [1, null, { b: "é中😀" }] } };

type Case = readonly [
  what: string,
  array: Omit<NewArray, "shape" | "chunks" | "zarrFormat">,
  items: ArrayBufferView,
];

const CASES: readonly Case[] = [
  ["bool", { dataType: "bool", fillValue: true }, Uint8Array.from(numbers, (n) => n % 2)],
  ["int8", { dataType: "int8", fillValue: -5, codec: "blosc:lz4:9:bitshuffle" }, Int8Array.from(numbers)],
  ["uint16", { dataType: "uint16", codec: "blosc:blosclz:5:shuffle" }, Uint16Array.from(numbers)],
  ["int32, big-endian", { dataType: ">i4", fillValue: 42, codec: "zlib:9" }, Int32Array.from(numbers)],
  ["int32 in order F", { dataType: "int32", order: "F", fillValue: 7 }, Int32Array.from(numbers)],
  ["int64", { dataType: "int64", fillValue: -(2n ** 63n) }, BigInt64Array.from(numbers, BigInt)],
  [
    "uint64",
    { dataType: "uint64", fillValue: 2n ** 64n - 1n, codec: "none" },
    BigUint64Array.from(numbers, BigInt),
  ],
  [
    "float32",
    { dataType: "float32", fillValue: Number.NaN, codec: "blosc:zlib:1:shuffle" },
    Float32Array.from(numbers),
  ],
  [
    "float64",
    { dataType: "float64", fillValue: Number.NEGATIVE_INFINITY, codec: "bz2:1" },
    Float64Array.from(numbers),
  ],
  ["complex64", { dataType: "complex64", fillValue: [2.5, 0] }, Float32Array.from([...numbers, ...numbers])],
  ["datetime", { dataType: "<M8[ns]", fillValue: "NaT", codec: "zlib" }, BigInt64Array.from(numbers, BigInt)],
  ["S3", { dataType: "S3", codec: "zlib" }, new TextEncoder().encode("abc".repeat(42))],
  [
    "U2",
    { dataType: "<U2", fillValue: "é", codec: "zlib" },
    new Uint8Array(Uint32Array.from([...numbers, ...numbers], (n) => n + 65).buffer),
  ],
  ["uint32 in lzma", { dataType: "uint32", codec: "lzma" }, Uint32Array.from(numbers)],
  ["without a fill value", { dataType: "int16", fillValue: null, codec: "none" }, Int16Array.from(numbers)],
];

describe.runIf(hasPythonV1)("Zarr v1 that we wrote, read by zarr-python 1.1.0", () => {
  test.each(CASES)("%s: zarr-python 1.1.0 reads the values that we wrote", async (_, array, items) => {
    const target = folder.next("a.zarr");
    const writer = await create(target, { shape, chunks: [3, 4], zarrFormat: "v1", attributes, ...array });
    // Chunks of the grid of 3 by 3 that are whole, cut and missing; where nothing says what is missing, none is.
    const region =
      array.fillValue === null
        ? [
            [0, 7],
            [0, 10],
          ]
        : [
            [1, 7],
            [0, 7],
          ];
    const all = array.fillValue === null ? Int16Array.from({ length: 70 }, (_, i) => i) : items;
    await writer.write(region as [number, number][], all as Uint8Array);
    await writer.close();
    const { [target]: found } = await read(target);
    expect(found).toMatchObject({ shape, chunks: [3, 4], order: array.order ?? "C", attributes });
    expect(found?.initialized).toBe(array.fillValue === null ? 9 : 6);
    expect(found?.sha256).toBe(await sha256Of(target));
  });

  test("structures, and edges of one and four dimensions", async () => {
    const struct = folder.next("struct");
    const dataType = [
      ["x", "<f4"],
      ["y", ">i2"],
      ["deep", [["s", "|S3"]]],
    ];
    const writer = await create(struct, {
      shape: [5],
      chunks: [2],
      zarrFormat: "v1",
      dataType: dataType as never,
      codec: "zlib",
    });
    await writer.write(
      [],
      Uint8Array.from({ length: 45 }, (_, i) => i + 1),
    );
    await writer.close();
    const edges = folder.next("edges");
    const wide = await create(edges, {
      shape: [3, 2, 5, 4],
      chunks: [2, 2, 3, 3],
      zarrFormat: "v1",
      dataType: "int32",
      order: "F",
    });
    await wide.write(
      [],
      Int32Array.from({ length: 120 }, (_, i) => i),
    );
    await wide.close();
    const found = await read(struct, edges);
    for (const path of [struct, edges]) expect(found[path]?.sha256, path).toBe(await sha256Of(path));
  });

  test("arrays that were rechunked, and that came from other formats", async () => {
    const source = folder.next("a.zarr");
    const writer = await create(source, {
      shape,
      chunks: [3, 4],
      dataType: "float32",
      codec: "blosc",
      order: "F",
      zarrFormat: "v2",
    });
    await writer.write(
      [
        [0, 6],
        [0, 7],
      ],
      Float32Array.from(numbers),
    );
    await writer.close();
    const targets = (["blosc", "none", "zlib"] as const).map((codec) => ({
      codec,
      path: `${source}.${codec}`,
    }));
    for (const { codec, path } of targets) await rechunk(source, path, { chunks: [4, 10], codec, to: "v1" });
    await convert(source, `${source}.v3`, { to: "v3" });
    await convert(`${source}.v3`, `${source}.back`, { to: "v1" });
    const sha256 = await sha256Of(source);
    const paths = [...targets.map(({ path }) => path), `${source}.back`];
    const found = await read(...paths);
    for (const path of paths) expect(found[path]?.sha256, path).toBe(sha256);
  });

  test.runIf(hasShared)("real data, converted", async () => {
    const source = join(shared, "data/era5-uk-t2m.zarr/t2m");
    const target = folder.next("t2m.v1");
    await convert(source, target, { to: "v1" });
    const { [target]: found } = await read(target);
    expect(found?.sha256).toBe(await sha256Of(source));
    expect(found?.attributes).toMatchObject({ _ARRAY_DIMENSIONS: ["time", "latitude", "longitude"] });
  });
});
