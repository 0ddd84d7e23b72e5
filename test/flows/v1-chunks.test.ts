import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { convert, copy, open, rechunk, setAttributes, slice } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { documentIn, storeV1Array } from "../support/v1-store.ts";

const folder = temporaryFolder();

async function stored(chunk: Uint8Array, meta: object): Promise<string> {
  const target = folder.next("other.zarr");
  await storeV1Array(target, chunk, meta);
  return target;
}

const littleShorts = (...items: readonly number[]) => new Uint8Array(Int16Array.from(items).buffer);

describe("order F without blosc", () => {
  const compressed = { compression: "zlib", compression_opts: 1, order: "F" };
  const items = [0, 1, 2, 3, 4, 5];
  const inOrderC = () => stored(deflateSync(littleShorts(...items)), compressed);
  const inOrderF = () => stored(deflateSync(littleShorts(0, 3, 1, 4, 2, 5)), compressed);
  const dataOf = async (source: Awaited<ReturnType<typeof open>> | string) => [
    ...(await slice(typeof source === "string" || source.kind === "array" ? source : "").read()).data,
  ];

  test("is C, as the one writer made it", async () => {
    const source = await inOrderC();
    expect(await dataOf(source)).toEqual(items);
    await convert(source, `${source}.v2`, { to: "v2" });
    expect(documentIn(`${source}.v2`, ".zarray")).toMatchObject({ order: "C" });
    expect(readFileSync(join(`${source}.v2`, "0.0"))).toEqual(readFileSync(join(source, "0.0")));
    await rechunk(source, `${source}.rechunked`, { chunks: [1, 3] });
    expect(documentIn(`${source}.rechunked`)).toMatchObject({ order: "C" });
    expect(await dataOf(`${source}.rechunked`)).toEqual(items);
  });

  test("is F where the reader takes it as stated, in every flow", async () => {
    const source = await inOrderF();
    const array = await open(source, { v1Order: "as-stated" });
    expect(await dataOf(array)).toEqual(items);
    for (const to of ["v1", "v2", "v3"] as const) {
      await rechunk(array, `${source}.${to}`, { chunks: [1, 3], to });
      expect(await dataOf(`${source}.${to}`), to).toEqual(items);
    }
    await convert(array, `${source}.as-it-is`, { to: "v2" });
    expect(documentIn(`${source}.as-it-is`, ".zarray")).toMatchObject({ order: "F" });
    const changed = await setAttributes(array, { units: "m" });
    expect(await dataOf(changed)).toEqual(items);
  });

  test("is given up for C when an array comes from another format", async () => {
    const inF = { shape: [2, 3], dataType: "int16", order: "F", codec: "zlib", values: items } as const;
    const source = await given({ at: folder.next("v2.zarr"), zarrFormat: "v2", ...inF });
    await convert(source, `${source}.v1`, { to: "v1" });
    expect(documentIn(`${source}.v1`)).toMatchObject({ order: "C", compression: "zlib" });
    expect(await dataOf(`${source}.v1`)).toEqual(items);
  });
});

describe("the name gzip", () => {
  const meta = { compression: "gzip", compression_opts: 1 };
  test.each([
    ["a zlib stream", deflateSync],
    ["a gzip file", gzipSync],
  ])("may mean %s", async (_, compress) => {
    const source = await stored(compress(littleShorts(1, 2, 3, 4, 5, 6)), meta);
    expect([...(await slice(source).read()).data]).toEqual([1, 2, 3, 4, 5, 6]);
    await rechunk(source, `${source}.rechunked`, { chunks: [1, 3] });
    expect(documentIn(`${source}.rechunked`)).toMatchObject({ compression: "zlib" });
    await copy(source, `${source}.v2`, { to: "v2", codec: "zlib" });
    expect(await digestOf(`${source}.v2`)).toBe(await digestOf(source));
  });
});

describe("a broken chunk", () => {
  test.each([
    [
      "cut",
      { compression: "zlib", compression_opts: 1 },
      deflateSync(littleShorts(1, 2, 3, 4, 5, 6)).subarray(0, 9),
    ],
    ["too short", { compression: "none", compression_opts: null }, new Uint8Array(11)],
    ["too long", { compression: null, compression_opts: null }, new Uint8Array(13)],
    ["a cut header", { compression: "blosc", compression_opts: null }, new Uint8Array(15)],
    [
      "of another length",
      { compression: "blosc", compression_opts: null },
      Uint8Array.of(2, 1, 2, 2, 10, 0, 0, 0, 10, 0, 0, 0, 26, 0, 0, 0, ...new Uint8Array(10)),
    ],
  ])("%s, is named", async (_, meta, chunk) => {
    const source = await stored(chunk, meta);
    await expect(slice(source).read()).rejects.toMatchObject({
      code: "corrupt-chunk",
      details: { key: "0.0" },
    });
  });

  test("of zstd as it was in 2016 is no garbage", async () => {
    const frame = [0x27, 0xb5, 0x2f, 0xfd, 0x20, 0x0c, 0, 0];
    const block = [frame.length, 0, 0, 0, ...frame];
    const size = 16 + 4 + block.length;
    const header = [2, 1, 0x90, 2, 12, 0, 0, 0, 12, 0, 0, 0, size, 0, 0, 0, 20, 0, 0, 0];
    const source = await stored(Uint8Array.from([...header, ...block]), {
      compression: "blosc",
      compression_opts: null,
    });
    await expect(slice(source).read()).rejects.toMatchObject({ code: "codec-error" });
  });
});
