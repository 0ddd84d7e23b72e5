import { describe, expect, test } from "vitest";
import { createBytes } from "../../../../src/codecs/array-to-bytes/bytes/codec.ts";
import type { ArrayToBytesCodec } from "../../../../src/codecs/codec.ts";
import type { DataType } from "../../../../src/meta/data-type.ts";
import { plainBuffers } from "../../../../src/util/buffers.ts";
import type { JsonObject } from "../../../../src/util/json-value.ts";
import { errorOf, RAW, specOf } from "../../support.ts";

const make = (configuration: JsonObject, dataType: DataType, shape: readonly number[] = [2]) =>
  createBytes(configuration, {
    spec: specOf(shape, dataType),
    itemSize: 1,
    endian: "little",
  }) as ArrayToBytesCodec;

const counting = (length: number) => Uint8Array.from({ length }, (_, i) => i);

const STRUCT: DataType = {
  kind: "struct",
  size: 15,
  fields: [
    { name: "a", dataType: { kind: "int", size: 2 }, endian: "big" },
    { name: "", dataType: RAW(1) },
    {
      name: "b",
      dataType: {
        kind: "struct",
        size: 4,
        fields: [{ name: "c", dataType: { kind: "float", size: 2 }, shape: [2] }],
      },
      endian: "big",
    },
    { name: "d", dataType: { kind: "uint", size: 8 }, endian: "little" },
  ],
};

describe("byte order", () => {
  test.each<[string, DataType, number[]]>([
    ["integers", { kind: "int", size: 4 }, [3, 2, 1, 0, 7, 6, 5, 4]],
    [
      "times",
      { kind: "datetime", size: 8, unit: "s", scale: 1 },
      [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8],
    ],
    ["complex halves", { kind: "complex", size: 8 }, [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]],
    ["code points", { kind: "fixed-text", size: 8 }, [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]],
    ["bytes", { kind: "fixed-bytes", size: 3 }, [0, 1, 2, 3, 4, 5]],
    ["booleans", { kind: "bool", size: 1 }, [0, 1]],
  ])("%s", async (_, dataType, decoded) => {
    const codec = make({ endian: "big" }, dataType);
    const bytes = counting(decoded.length);
    const data = await codec.decode(bytes, plainBuffers);
    expect([...data.bytes]).toEqual(decoded);
    expect(data.bytes).toBe(bytes);
    expect([...(await codec.encode(data, plainBuffers))]).toEqual([...counting(decoded.length)]);
    const little = make({ endian: "little" }, dataType);
    const same = await little.decode(counting(decoded.length), plainBuffers);
    expect([...same.bytes]).toEqual([...counting(decoded.length)]);
  });

  test("fields of a struct each have their own, in every item", async () => {
    const codec = make({}, STRUCT);
    const data = await codec.decode(counting(30), plainBuffers);
    const first = [1, 0, 2, 4, 3, 6, 5, 7, 8, 9, 10, 11, 12, 13, 14];
    expect([...data.bytes]).toEqual([...first, ...first.map((byte) => byte + 15)]);
    expect([...(await codec.encode(data, plainBuffers))]).toEqual([...counting(30)]);
  });

  test("has to be stated where it means something", async () => {
    await errorOf(() => make({}, { kind: "float", size: 4 }), "invalid-metadata");
    await errorOf(() => make({ endian: "middle" }, { kind: "float", size: 4 }), "invalid-metadata");
    expect(make({}, { kind: "int", size: 1 }).encodedSize).toBe(2);
  });
});

test("data come in C order", async () => {
  const codec = make({}, RAW(3), [2, 4]);
  expect(codec.encodedSize).toBe(24);
  expect(await codec.decode(counting(24), plainBuffers)).toMatchObject({
    itemSize: 3,
    shape: [2, 4],
    strides: [4, 1],
  });
});

test("a wrong length is refused with both figures", async () => {
  const codec = make({}, RAW(3), [2, 4]);
  const error = await errorOf(() => codec.decode(counting(23), plainBuffers), "corrupt-chunk");
  expect(error.details).toMatchObject({ expected: 24, found: 23 });
  const data = await codec.decode(counting(24), plainBuffers);
  await errorOf(() => codec.encode({ ...data, bytes: counting(12) }, plainBuffers), "codec-error");
});

test("items of varying size are refused", async () => {
  await errorOf(() => make({}, { kind: "string" }), "invalid-metadata");
});
