import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CodecOption, DataTypeOption } from "../../src/index.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { hasPython, runPython } from "./python.ts";

const ramp = (index: number) => 3 * index - 40;
const waves = (index: number) => Math.fround(Math.sin(index) * 1000);

/** Lists that v2 and v3 have, the type of the items, and these. */
const LISTS: readonly [CodecOption, DataTypeOption, (index: number) => number | boolean][] = [
  ["bitround:10,zstd:5", "float32", waves],
  ["bitround:20,shuffle,zlib:9", "float64", waves],
  ["delta,blosc:zstd:3:bitshuffle", "int16", ramp],
  ["delta:int32,shuffle,gzip:1,crc32c", "int16", ramp],
  ["quantize:3,lz4", "float64", waves],
  ["fixedscaleoffset:0:10:i2,delta,bz2:1", "float32", waves],
  ["astype:float32,zstd:1", "float64", waves],
  ["packbits,zstd", "bool", (index) => index % 3 === 0],
  ["transpose:1:0,lzma:1", "int32", ramp],
  ["shuffle:2,adler32", "int32", ramp],
  ["crc32", "uint8", (index) => index],
  ["delta", "int64", ramp],
];

describe.runIf(hasPython)("lists of codecs, as zarr-python reads them", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "zarrflow-lists-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }), 60_000);

  test.each([
    ["v2", {}],
    ["v3", {}],
    ["v3, in shards", { shards: [4, 6] }],
  ] as const)(
    "%s",
    async (name, more) => {
      const at = join(folder, `${name}.zarr`);
      const arrays = Object.fromEntries(
        LISTS.map(([codec, dataType, values], i) => [
          `a${i}`,
          { shape: [8, 6], chunks: [2, 3], codec, dataType, values, ...more } as const,
        ]),
      );
      await given({ at, zarrFormat: name.startsWith("v2") ? "v2" : "v3", arrays });
      for (const path of Object.keys(arrays)) {
        const { sha256 } = (await runPython("hash_slice.py", at, path, ":,:")) as { sha256: string };
        expect(sha256, `${LISTS[Number(path.slice(1))]?.[0]}`).toBe(await digestOf(join(at, path)));
      }
    },
    120_000,
  );
});
