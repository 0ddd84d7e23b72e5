import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadCodecs } from "../../../src/codecs/chain/codec-chain.ts";
import { codecStep } from "../../../src/codecs/chain/codec-step.ts";
import { decodeBytes, encodeBytes } from "../../../src/codecs/standalone.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import type { DataType } from "../../../src/meta/data-type.ts";
import { plainBuffers } from "../../../src/util/bytes.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { errorOf, GuardedBuffers, placedCodec, RAW, specOf } from "../support.ts";

/** Small arrays with what numcodecs 0.16.6 makes of them; `read` is what it reads back where that differs. */
interface Vector {
  readonly codec: string;
  readonly configuration: JsonObject;
  readonly decoded: string;
  readonly encoded: string;
  readonly read?: string;
  readonly itemSize?: 2 | 4 | 8;
}

const fixture = new URL("../../fixtures/numcodecs-filters.json", import.meta.url);
const vectors = JSON.parse(readFileSync(fixture, "utf8")) as Vector[];

const fromHex = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
const toHex = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString("hex");

test.each(vectors.map((v, i) => [i, v.codec, v.configuration, v] as const))(
  "%i %s with %j encodes and decodes as numcodecs does",
  async (_, codec, configuration, { decoded, encoded, read = decoded, itemSize }) => {
    const size = itemSize ?? 1;
    const dataType: DataType = itemSize ? { kind: "float", size: itemSize } : RAW(1);
    const configs: CodecConfig[] = [
      { name: "bytes", configuration: { endian: "little" } },
      { name: codec, configuration },
    ];
    const [, placed] = await loadCodecs(configs, specOf([decoded.length / 2 / size], dataType));
    if (!placed) throw new Error("no codec");
    const buffers = new GuardedBuffers();

    const encode = codecStep(placed, "encode", buffers);
    const written = await encode(buffers.copyOf(fromHex(decoded)));
    expect(toHex(written)).toBe(encoded);
    const decode = codecStep(placed, "decode", buffers);
    expect(toHex(await decode(buffers.copyOf(fromHex(encoded))))).toBe(read);
  },
);

describe("sizes follow from the types", () => {
  const sizes: [string, JsonObject, number, number][] = [
    ["delta", { dtype: "<f8", astype: "<f4" }, 800, 400],
    ["astype", { decode_dtype: "|i1", encode_dtype: "<i8" }, 5, 40],
    ["packbits", {}, 17, 4],
    ["crc32c", {}, 17, 21],
    ["shuffle", { elementsize: 4 }, 16, 16],
  ];
  test.each(sizes)(
    "%s with %j: %i bytes become %i",
    async (name, configuration, decodedSize, encodedSize) => {
      const { codec } = await placedCodec(name, configuration, decodedSize);
      expect(codec.fixedEncodedSize?.(decodedSize)).toBe(encodedSize);
      const encoded = new Uint8Array(encodedSize).fill(codec.name === "packbits" ? 7 : 0);
      expect(codec.statedDecodedSize?.(encoded)).toBe(decodedSize);
    },
  );
});

describe("refused", () => {
  const decode = async (name: string, configuration: JsonObject, size: number, bytes: Uint8Array) =>
    codecStep(await placedCodec(name, configuration, size), "decode", plainBuffers)(bytes);

  const broken: [string, JsonObject, number, Uint8Array][] = [
    ["delta", { dtype: "<i4" }, 12, new Uint8Array(11)],
    ["shuffle", { elementsize: 4 }, 12, new Uint8Array(11)],
    ["packbits", {}, 3, new Uint8Array(0)],
    ["packbits", {}, 3, Uint8Array.of(8, 0)],
    ["packbits", {}, 0, Uint8Array.of(1)],
    ["crc32", {}, 3, new Uint8Array(3)],
    ["crc32c", {}, 3, Uint8Array.of(1, 2, 3, 0, 0, 0, 0)],
    ["bitround", { keepbits: 3 }, 4, new Uint8Array(5)],
  ];
  test.each(broken)("%s with %j: %i bytes of %j", async (name, configuration, size, bytes) => {
    const error = await errorOf(() => decode(name, configuration, size, bytes), "corrupt-chunk");
    expect(error.details.codec).toBe(name);
  });

  const wrong: [string, JsonObject, string][] = [
    ["delta", {}, "dtype"],
    ["shuffle", { elementsize: 1.5 }, "elementsize"],
    ["crc32", { location: "middle" }, "location"],
    ["fixedscaleoffset", { offset: 0, dtype: "<f4" }, "scale"],
  ];
  test.each(wrong)("%s with %j: its %s", async (name, configuration, setting) => {
    const error = await errorOf(() => placedCodec(name, configuration, 8), "invalid-metadata");
    expect(error.details).toMatchObject({ codec: name, pointer: `/codecs/1/configuration/${setting}` });
  });

  test("bit rounding of what are no floats, and filling with half an item", async () => {
    const { codec } = await placedCodec("delta", { dtype: "<i4" }, 8);
    await errorOf(() => codec.encodeInto(new Uint8Array(7), new Uint8Array(8)), "codec-error");
    for (const keepbits of [3, 24]) {
      const bitround = await placedCodec("bitround", { keepbits }, 8, 4);
      await errorOf(() => codecStep(bitround, "encode", plainBuffers)(new Uint8Array(8)), "codec-error");
    }
  });
});

test("big-endian floats are rounded as they lie", async () => {
  const configs: CodecConfig[] = [
    { name: "bytes", configuration: { endian: "big" } },
    { name: "bitround", configuration: { keepbits: 2 } },
  ];
  const chain = await loadCodecs(configs, specOf([1], { kind: "float", size: 4 }));
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, 1.3, false);
  const rounded = (await codecStep(chain[1] as never, "encode", plainBuffers)(bytes)) as Uint8Array;
  expect(new DataView(rounded.buffer).getFloat32(0, false)).toBe(1.25);
});

test("base64 is what Node makes of any bytes, and nothing else", async () => {
  const config = { id: "base64" };
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const encoded = await encodeBytes(config, bytes);
      expect(Buffer.from(encoded).toString()).toBe(Buffer.from(bytes).toString("base64"));
      expect(await decodeBytes(config, encoded)).toEqual(new Uint8Array(bytes));
    }),
  );
  for (const text of ["A", "AAA", "AAA=AAAA", "AA AA===", "=AAA", "A===", "AA-_", "AAA\u00e9"])
    await errorOf(() => decodeBytes(config, Buffer.from(text, "latin1")), "corrupt-chunk");
  await errorOf(() => decodeBytes(config, Buffer.from("AAAA"), { size: 2 }), "corrupt-chunk");
});

describe("jenkins_lookup3", () => {
  const id = "jenkins_lookup3";
  const bytes = new TextEncoder().encode("Four score and seven years ago");

  test("stands behind the bytes, little-endian; initval and prefix go in, and are not stored", async () => {
    const encoded = await encodeBytes({ id }, bytes);
    expect([...encoded.subarray(-4)]).toEqual([0x51, 0x05, 0x77, 0x17]);
    expect(await decodeBytes({ id }, encoded)).toEqual(bytes);
    const plain = await encodeBytes({ id, initval: 1 }, bytes);
    expect([...plain.subarray(-4)]).toEqual([0x61, 0x81, 0x62, 0xcd]);
    const configuration = { initval: 1, prefix: [...bytes.subarray(0, 5)] };
    const config = { name: `numcodecs.${id}`, configuration };
    const rest = await encodeBytes(config, bytes.subarray(5));
    expect(rest).toEqual(plain.subarray(5));
    expect(await decodeBytes(config, rest)).toEqual(bytes.subarray(5));
  });

  test("finds changed bytes, a changed checksum and too few bytes; options that are none are refused", async () => {
    const encoded = await encodeBytes({ id }, bytes);
    for (const at of [0, encoded.length - 1])
      await errorOf(() => decodeBytes({ id }, encoded.with(at, (encoded[at] ?? 0) ^ 1)), "corrupt-chunk");
    await errorOf(() => decodeBytes({ id }, new Uint8Array(3)), "corrupt-chunk");
    for (const options of [{ initval: -1 }, { initval: 2 ** 32 }, { prefix: "abc" }, { prefix: [256] }])
      await errorOf(() => encodeBytes({ id, ...options }, bytes), "invalid-metadata");
  });
});
