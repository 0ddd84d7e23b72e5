import { describe, expect, it } from "vitest";
import { createPipeline } from "../../src/codecs/chain/pipeline.ts";
import type { CodecConfig } from "../../src/meta/array-metadata.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import { plainBuffers } from "../../src/util/buffers.ts";
import { inWords, titled } from "../support/words.ts";

const FLOAT32: DataType = { kind: "float", size: 4 };
const spec = { shape: [64], dataType: FLOAT32, fillValue: null };
const values = new Float32Array(64).map((_, i) => (i % 8) * 0.5);
const LITTLE: CodecConfig = { name: "bytes", configuration: { endian: "little" } };

const listOf = (name: string, configuration: CodecConfig["configuration"]) => [
  LITTLE,
  { name, configuration },
];
const data = () => ({
  kind: "fixed" as const,
  bytes: new Uint8Array(values.slice().buffer),
  itemSize: 4,
  shape: [64],
  strides: [1],
});

/** What is written with good settings, and settings of other writers that only an encoder would look at. */
const CASES: readonly [string, CodecConfig["configuration"], CodecConfig["configuration"]][] = [
  ["zstd", { level: 1 }, { level: 100 }],
  ["zstd", { level: 1 }, { level: "fast" }],
  ["zstd", { level: 1 }, { level: 1, checksum: 1 }],
  ["gzip", { level: 1 }, { level: 99 }],
  ["zlib", { level: 1 }, { level: -5 }],
  ["v1.gzip", { level: 1 }, { level: 12 }],
  ["bz2", { level: 1 }, { level: 0 }],
  ["lz4", {}, { acceleration: 1.5 }],
  ["lzma", {}, { preset: 12 }],
  ["lzma", {}, { check: 77 }],
  ["lzma", {}, { filters: [] }],
  ["blosc", {}, { clevel: 12 }],
  ["blosc", {}, { cname: "lz5" }],
  ["blosc", {}, { cname: 4 }],
  ["blosc", {}, { shuffle: "best" }],
  ["blosc", {}, { typesize: 0 }],
  ["blosc", {}, { blocksize: -1 }],
  ["shuffle", { elementsize: 1 }, { elementsize: 0 }],
  ["shuffle", { elementsize: 1 }, { elementsize: -3 }],
  ["bitround", { keepbits: 23 }, { keepbits: 99 }],
  ["quantize", { digits: 5, dtype: "<f4" }, { digits: 1000, dtype: "<f4" }],
];

describe("settings that only an encoder needs", () => {
  const title = (name: string, _: unknown, odd: unknown) => `of ${name}, ${inWords(odd)},`;
  it.each(titled(CASES, title))("%s do not stop a decoder", async (_, name, good, odd) => {
    const writer = await createPipeline(listOf(name, good), spec);
    const encoded = await writer.encode(data(), plainBuffers);
    const reader = await createPipeline(listOf(name, odd), spec);
    const decoded = await reader.decode(encoded.slice(), plainBuffers);
    expect(new Float32Array(decoded.bytes.slice().buffer)).toEqual(values);
  });

  it.each(titled(CASES, title))("%s are refused by an encoder", async (_, name, __, odd) => {
    const codes = expect.stringMatching(/^(invalid-metadata|unsupported-codec)$/);
    const refusal = { code: codes, details: { codec: name } };
    const reader = await createPipeline(listOf(name, odd), spec);
    await expect((async () => reader.encode(data(), plainBuffers))()).rejects.toMatchObject(refusal);
    await expect(createPipeline(listOf(name, odd), spec, { isWritten: true })).rejects.toMatchObject({
      ...refusal,
      details: { codec: name, pointer: expect.stringMatching(/^\/codecs\/1/), hint: expect.any(String) },
    });
  });
});
