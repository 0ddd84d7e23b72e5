// @module-tag slow
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  convert,
  copy,
  diff,
  info,
  type NewArray,
  open,
  rechunk,
  slice,
  sliceTo,
  validate,
} from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all, digestOf } from "../support/consume.ts";
import { documentIn, writeV1Array } from "../support/v1-store.ts";

const folder = temporaryFolder();

const shape = [7, 10];

async function made(array: Parameters<typeof writeV1Array>[1], items: ArrayBufferView): Promise<string> {
  const target = folder.next("a.zarr");
  await writeV1Array(target, array, items);
  return target;
}

const names = { dimensionNames: ["y", "x"], attributes: { units: "K", deep: { a: [1, null] } } };
const ramp = Int32Array.from({ length: 30 }, (_, i) => i - 7);

const ARRAYS: readonly { what: string; array: Omit<NewArray, "shape" | "chunks">; items: ArrayBufferView }[] =
  [
    { what: "blosc by default", array: { dataType: "int32", fillValue: 42 }, items: ramp },
    {
      what: "blosc in order F",
      array: { dataType: "int32", order: "F", codec: "blosc:zlib:9:bitshuffle" },
      items: ramp,
    },
    { what: "zlib, big-endian", array: { dataType: ">i4", codec: "zlib:6", fillValue: -1 }, items: ramp },
    {
      what: "no compression, a fill value of NaN",
      array: { dataType: "float64", codec: "none", fillValue: Number.NaN },
      items: Float64Array.from(ramp),
    },
    {
      what: "blosc of snappy, complex",
      array: { dataType: "complex64", codec: "blosc:snappy:5:noshuffle", fillValue: [1.5, 0] },
      items: Float32Array.from({ length: 60 }, (_, i) => i / 4),
    },
    {
      what: "the least integer of 64 bits",
      array: { dataType: "int64", codec: "zlib", fillValue: -(2n ** 63n) },
      items: BigInt64Array.from({ length: 30 }, (_, i) => BigInt(i)),
    },
    {
      what: "fixed bytes",
      array: { dataType: "S3", codec: "zlib" },
      items: new TextEncoder().encode("abc".repeat(30)),
    },
    {
      what: "no fill value",
      array: { dataType: "uint8", fillValue: null },
      items: new Uint8Array(30).fill(9),
    },
  ];

describe.each(ARRAYS)("an array of v1 with $what", ({ array, items }) => {
  test("is documents and chunks side by side", async () => {
    const source = await made({ ...array, ...names }, items);
    const files = readdirSync(source).sort();
    expect(files).toEqual(
      ["0.0", "0.1", "1.0", "1.1", "attrs", "meta"].filter((name) => files.includes(name)),
    );
    expect(documentIn(source, "attrs")).toEqual({
      _ARRAY_DIMENSIONS: ["y", "x"],
      deep: { a: [1, null] },
      units: "K",
    });
    expect(await open(source)).toMatchObject({ kind: "array", shape, dimensionNames: ["y", "x"] });
  });

  test("keeps its digest in other formats and back, and its metadata", async () => {
    const source = await made({ ...array, ...names }, items);
    const sha256 = await digestOf(source);
    for (const to of ["v2", "v3"] as const) {
      await convert(source, `${source}.${to}`, { to, verify: true });
      expect(await digestOf(`${source}.${to}`), to).toBe(sha256);
      await convert(`${source}.${to}`, `${source}.${to}.v1`, { to: "v1", verify: true });
      expect(await digestOf(`${source}.${to}.v1`), `${to} and back`).toBe(sha256);
      if (array.fillValue !== null || to === "v2")
        expect(documentIn(`${source}.${to}.v1`)).toEqual(documentIn(source));
      expect(readFileSync(join(`${source}.${to}.v1`, "attrs"))).toEqual(readFileSync(join(source, "attrs")));
      expect(readFileSync(join(`${source}.${to}.v1`, "0.0"))).toEqual(readFileSync(join(source, "0.0")));
    }
  });

  test("keeps its digest on other grids", async () => {
    const source = await made({ ...array, ...names }, items);
    const sha256 = await digestOf(source);
    await rechunk(source, `${source}.rechunked`, { chunks: { y: -1, x: 3 }, codec: "zlib" });
    expect(await digestOf(`${source}.rechunked`)).toBe(sha256);
    expect(documentIn(`${source}.rechunked`)).toMatchObject({
      chunks: [7, 3],
      compression: "zlib",
      order: "C",
    });
    expect(readFileSync(join(`${source}.rechunked`, "attrs"))).toEqual(readFileSync(join(source, "attrs")));
    expect((await all(diff(source, `${source}.rechunked`))).filter(({ counts }) => counts)).toEqual([]);
  });
});

describe("a copy", () => {
  test("is byte for byte the same, with what else lies there", async () => {
    const source = await made({ dataType: "int32", ...names }, ramp);
    await writeFile(join(source, "README"), "mine");
    await writeFile(join(source, "0.0.k3j4h5.partial"), "cut");
    await copy(source, `${source}.zip`, { verify: true });
    await copy(`${source}.zip`, `${source}.back`);
    const files = readdirSync(source).sort();
    expect(files).toContain("README");
    expect(readdirSync(`${source}.back`).sort()).toEqual(files);
    for (const name of files)
      expect(readFileSync(join(`${source}.back`, name)), name).toEqual(readFileSync(join(source, name)));
  });

  test("makes another codec on the way", async () => {
    const source = await made({ dataType: "int32" }, ramp);
    await copy(source, `${source}.plain`, { codec: "none" });
    expect(documentIn(`${source}.plain`)).toMatchObject({ compression: "none", compression_opts: null });
    expect(readFileSync(join(`${source}.plain`, "0.0"))).toHaveLength(48);
    expect(await digestOf(`${source}.plain`)).toBe(await digestOf(source));
    await expect(copy(source, `${source}.zstd`, { codec: "zstd" })).rejects.toMatchObject({
      code: "loss-refused",
      details: { pointers: ["/compression"] },
    });
    expect(existsSync(`${source}.zstd`)).toBe(false);
  });
});

describe("what is reported of an array of v1", () => {
  test("info, validate and a slice", async () => {
    const source = await made({ dataType: "int32", fillValue: 42, ...names }, ramp);
    expect(await all(info(source))).toMatchObject([
      { zarrFormat: "v1", chunks: 9, chunksPresent: 4, codecs: ["bytes(little)", "blosc(lz4, 5, shuffle)"] },
    ]);
    expect(await all(validate(source, { deep: true }))).toMatchObject([{ what: "missing-chunks", count: 5 }]);
    await writeFile(join(source, "9.9"), "x");
    await writeFile(join(source, "0.0.x1.partial"), "x");
    expect((await all(validate(source))).map(({ what }) => what).sort()).toEqual([
      "missing-chunks",
      "outside-grid",
      "unknown-key",
    ]);
    await sliceTo(source, `${source}.part`, { slice: { y: [4, 7], x: 2 } });
    expect(documentIn(`${source}.part`)).toMatchObject({ zarr_format: 1, shape: [3, 1] });
    expect([...(await slice(`${source}.part`).read()).data]).toEqual([19, 42, 42]);
  });

  test("a bare NaN as the fill value, which is not JSON", async () => {
    const source = await made({ dataType: "float32", fillValue: Number.NaN }, Float32Array.from(ramp));
    expect(await all(validate(source))).toMatchObject([
      { level: "warning", what: "metadata", pointer: "/fill_value" },
      { level: "info", what: "missing-chunks" },
    ]);
  });
});
