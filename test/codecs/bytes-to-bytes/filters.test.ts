import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadCodecs } from "../../../src/codecs/chain/codec-chain.ts";
import { codecStep } from "../../../src/codecs/chain/codec-step.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import type { DataType } from "../../../src/meta/data-type.ts";
import { plainBuffers } from "../../../src/util/buffers.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { inWords, titled } from "../../support/words.ts";
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

test.each(vectors.map((v, i) => [i, v.codec, inWords(v.configuration), v] as const))(
  "%i %s with %s encodes and decodes as numcodecs does",
  async (_, codec, __, { configuration, decoded, encoded, read = decoded, itemSize }) => {
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
  const title = (name: string, configuration: JsonObject, decodedSize: number, encodedSize: number) =>
    `${name} with ${inWords(configuration)}: ${decodedSize} bytes become ${encodedSize}`;
  test.each(titled(sizes, title))("%s", async (_, name, configuration, decodedSize, encodedSize) => {
    const { codec } = await placedCodec(name, configuration, decodedSize);
    expect(codec.fixedEncodedSize?.(decodedSize)).toBe(encodedSize);
    expect(
      codec.statedDecodedSize?.(new Uint8Array(encodedSize).fill(codec.name === "packbits" ? 7 : 0)),
    ).toBe(decodedSize);
  });
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
  const title = (name: string, configuration: JsonObject, size: number, bytes: Uint8Array) =>
    `${name} with ${inWords(configuration)}: ${inWords(bytes)} as ${size} bytes`;
  test.each(titled(broken, title))("%s", async (_, name, configuration, size, bytes) => {
    const error = await errorOf(() => decode(name, configuration, size, bytes), "corrupt-chunk");
    expect(error.details.codec).toBe(name);
  });

  const wrong: [string, JsonObject, string][] = [
    ["delta", {}, "dtype"],
    ["shuffle", { elementsize: 1.5 }, "elementsize"],
    ["crc32", { location: "middle" }, "location"],
    ["fixedscaleoffset", { offset: 0, dtype: "<f4" }, "scale"],
  ];
  const ofWrong = (name: string, configuration: JsonObject, setting: string) =>
    `the ${setting} of ${name} with ${inWords(configuration)}`;
  test.each(titled(wrong, ofWrong))("%s", async (_, name, configuration, setting) => {
    const error = await errorOf(() => placedCodec(name, configuration, 8), "invalid-metadata");
    expect(error.details).toMatchObject({ codec: name, pointer: `/codecs/1/configuration/${setting}` });
  });

  test("bit rounding of what are no floats, and to more bits than there are", async () => {
    const encode = async (keepbits: number, itemSize: number) =>
      codecStep(
        await placedCodec("bitround", { keepbits }, 8, itemSize),
        "encode",
        plainBuffers,
      )(new Uint8Array(8));
    await errorOf(() => encode(3, 4), "codec-error");
    await errorOf(() => encode(24, 4), "codec-error");
  });

  test("filling with half an item", async () => {
    const { codec } = await placedCodec("delta", { dtype: "<i4" }, 8);
    await errorOf(() => codec.encodeInto(new Uint8Array(7), new Uint8Array(8)), "codec-error");
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
