// @module-tag slow
import { describe, expect, test } from "vitest";
import { makeCodec } from "../../../src/codecs/registry.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import { RAW, specOf } from "../support.ts";

const ITEMS = 200_000;
/** What the test itself, and views, take. */
const SLACK = 65_536;

const CONFIGS: readonly CodecConfig[] = [
  ...["|i1", ">i2", "<i4", ">i8", "<f2", ">f2", "<f4", ">f8"].map((dtype) => ({
    name: "delta",
    configuration: { dtype },
  })),
  { name: "delta", configuration: { dtype: "<f4", astype: "<f2" } },
  { name: "delta", configuration: { dtype: ">i8", astype: ">i4" } },
  { name: "astype", configuration: { decode_dtype: ">f8", encode_dtype: ">f2" } },
  { name: "quantize", configuration: { digits: 2, dtype: "<f2" } },
  { name: "fixedscaleoffset", configuration: { dtype: ">f2", astype: "|u1", scale: 2, offset: 1 } },
  { name: "fixedscaleoffset", configuration: { dtype: "<f2", scale: 2, offset: 1 } },
  { name: "fixedscaleoffset", configuration: { dtype: "|i1", astype: "|i1", scale: 1, offset: 0 } },
];

/** Bytes of the buffers that `run` makes; none is given back before the next turn of the event loop at least. */
function made(run: () => unknown): number {
  const before = process.memoryUsage().arrayBuffers;
  run();
  return process.memoryUsage().arrayBuffers - before;
}

describe.each(CONFIGS.map((config) => [JSON.stringify(config), config] as const))("%s", (_, config) => {
  test("holds no more than it states", async () => {
    const codec = await makeCodec(config, { spec: specOf([ITEMS], RAW(1)), itemSize: 1, endian: "little" });
    if (codec.kind !== "bytes-to-bytes") throw new Error("no filter");
    const type = String(config.configuration.dtype ?? config.configuration.decode_dtype);
    // Neither is aligned.
    const source = new Uint8Array(ITEMS * Number(type[2]) + 1).subarray(1);
    const target = new Uint8Array(codec.maxEncodedSize(source.length) + 1).subarray(1);
    const limit = (codec.scratchSize?.(source.length) ?? 0) + SLACK;
    expect(made(() => codec.encodeInto(source, target))).toBeLessThanOrEqual(limit);
    expect(made(() => codec.decodeInto(target, source))).toBeLessThanOrEqual(limit);
  });
});
