import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { convert, create, type NewArray, rechunk } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
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

const REAL = join(shared, "data/era5-uk-t2m.zarr/t2m");
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
  const grid = { shape, chunks: [3, 4], zarrFormat: "v1", attributes } as const;
  let found: Record<string, Read> = {};
  const at = (name: string) => join(folder.path, `${name}.zarr`);

  beforeAll(async () => {
    for (const [name, array, items] of CASES) {
      const writer = await create(at(name), { ...grid, ...array });
      // Chunks of the grid of 3 by 3 that are whole, cut and missing; where nothing says what is missing, none is.
      if (array.fillValue === null)
        await writer.write(
          [],
          Int16Array.from({ length: 70 }, (_, i) => i),
        );
      else
        await writer.write(
          [
            [1, 7],
            [0, 7],
          ],
          items as Uint8Array,
        );
      await writer.close();
    }
    const fields = [
      ["x", "<f4"],
      ["y", ">i2"],
      ["deep", [["s", "|S3"]]],
    ];
    const struct = await create(at("struct"), {
      ...{ shape: [5], chunks: [2], zarrFormat: "v1", dataType: fields as never, codec: "zlib" },
    });
    await struct.write(
      [],
      Uint8Array.from({ length: 45 }, (_, i) => i + 1),
    );
    await struct.close();
    const edges = { shape: [3, 2, 5, 4], chunks: [2, 2, 3, 3], dataType: "int32", order: "F" } as const;
    await given({ at: at("edges"), zarrFormat: "v1", ...edges });
    const source = await create(at("source"), {
      ...{ shape, chunks: [3, 4], dataType: "float32", codec: "blosc", order: "F", zarrFormat: "v2" },
    });
    await source.write(
      [
        [0, 6],
        [0, 7],
      ],
      Float32Array.from(numbers),
    );
    await source.close();
    for (const codec of ["blosc", "none", "zlib"] as const)
      await rechunk(at("source"), at(codec), { chunks: [4, 10], codec, to: "v1" });
    await convert(at("source"), at("v3"), { to: "v3" });
    await convert(at("v3"), at("back"), { to: "v1" });
    const names = [...CASES.map(([name]) => name), "struct", "edges", "blosc", "none", "zlib", "back"];
    if (hasShared) {
      await convert(REAL, at("real"), { to: "v1" });
      names.push("real");
    }
    found = (await runPythonV1("read_v1.py", ...names.map(at))) as Record<string, Read>;
  });

  test.each(CASES)("%s: it reads the values that we wrote", async (name, { order = "C", fillValue }) => {
    const { [at(name)]: read } = found;
    const initialized = fillValue === null ? 9 : 6;
    expect(read).toMatchObject({ shape, chunks: [3, 4], order, attributes, initialized });
    expect(read?.sha256).toBe(await digestOf(at(name)));
  });

  test.each(["struct", "edges"])("%s, of one and of four dimensions", async (name) => {
    expect(found[at(name)]?.sha256).toBe(await digestOf(at(name)));
  });

  test("arrays that were rechunked, and that came from other formats", async () => {
    const sha256 = await digestOf(at("source"));
    for (const name of ["blosc", "none", "zlib", "back"]) expect(found[at(name)]?.sha256, name).toBe(sha256);
  });

  test.runIf(hasShared)("real data, converted", async () => {
    const { [at("real")]: read } = found;
    expect(read?.sha256).toBe(await digestOf(REAL));
    expect(read?.attributes).toMatchObject({ _ARRAY_DIMENSIONS: ["time", "latitude", "longitude"] });
  });
});
