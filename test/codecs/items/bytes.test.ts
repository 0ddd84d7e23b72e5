import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ArrayToBytesCodec } from "../../../src/codecs/codec.ts";
import { createBytes } from "../../../src/codecs/items/bytes.ts";
import type { DataType, FixedDataType } from "../../../src/meta/data-type.ts";
import { plainBuffers } from "../../../src/util/bytes.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { bytesOf, errorOf, fixedCodec, RAW, specOf } from "../support.ts";

const counting = (length: number) => Uint8Array.from({ length }, (_, i) => i);

describe("bytes", () => {
  const make = (configuration: JsonObject, dataType: DataType, shape: readonly number[] = [2]) => {
    const context = { spec: specOf(shape, dataType), itemSize: 1, endian: "little" } as const;
    return createBytes(configuration, context) as ArrayToBytesCodec;
  };
  const halves: DataType = { kind: "float", size: 2 };
  const inner: DataType = { kind: "struct", size: 4, fields: [{ name: "c", dataType: halves, shape: [2] }] };
  const struct: DataType = {
    kind: "struct",
    size: 15,
    fields: [
      { name: "a", dataType: { kind: "int", size: 2 }, endian: "big" },
      { name: "", dataType: RAW(1) },
      { name: "b", dataType: inner, endian: "big" },
      { name: "d", dataType: { kind: "uint", size: 8 }, endian: "little" },
    ],
  };
  const fields = [1, 0, 2, 4, 3, 6, 5, 7, 8, 9, 10, 11, 12, 13, 14];

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
    ["fields of a struct, each by its own", struct, [...fields, ...fields.map((byte) => byte + 15)]],
  ])("go by the stated order of bytes: %s", async (_, dataType, decoded) => {
    const codec = make(dataType === struct ? {} : { endian: "big" }, dataType);
    const bytes = counting(decoded.length);
    const data = await codec.decode(bytes, plainBuffers);
    expect([...data.bytes]).toEqual(decoded);
    expect(data.bytes).toBe(bytes);
    expect(await codec.encode(data, plainBuffers)).toEqual(counting(decoded.length));
    if (dataType === struct) return;
    const same = await make({ endian: "little" }, dataType).decode(bytes, plainBuffers);
    expect(same.bytes).toEqual(counting(decoded.length));
  });

  test("want that order where it means something, and no items of varying size", async () => {
    for (const endian of [null, "middle"])
      await errorOf(() => make({ endian }, { kind: "float", size: 4 }), "invalid-metadata");
    expect(make({}, { kind: "int", size: 1 }).encodedSize).toBe(2);
    await errorOf(() => make({}, { kind: "string" }), "invalid-metadata");
  });

  test("come in C order, and a wrong length is refused with both figures", async () => {
    const codec = make({}, RAW(3), [2, 4]);
    expect(codec.encodedSize).toBe(24);
    const data = await codec.decode(counting(24), plainBuffers);
    expect(data).toMatchObject({ itemSize: 3, shape: [2, 4], strides: [4, 1] });
    const error = await errorOf(() => codec.decode(counting(23), plainBuffers), "corrupt-chunk");
    expect(error.details).toMatchObject({ expected: 24, found: 23 });
    await errorOf(() => codec.encode({ ...data, bytes: counting(12) }, plainBuffers), "codec-error");
  });
});

describe("packed bits", () => {
  const packed = (configuration: JsonObject, dataType: FixedDataType, items: number) =>
    fixedCodec([{ name: "v3.packbits", configuration }], dataType, items);
  const BOOL: FixedDataType = { kind: "bool", size: 1 };

  test.each<[JsonObject, FixedDataType, ArrayBufferView, number[], ArrayBufferView?]>([
    [{ padding_encoding: "none" }, BOOL, Uint8Array.of(1, 0, 0, 1, 0, 0, 0, 0, 1, 1), [0b1001, 0b11]],
    [
      { padding_encoding: "first_byte" },
      BOOL,
      Uint8Array.of(1, 0, 0, 1, 0, 0, 0, 0, 1, 1),
      [6, 0b1001, 0b11],
    ],
    [{ padding_encoding: "last_byte" }, BOOL, Uint8Array.of(1, 0, 0, 1, 0, 0, 0, 0, 1, 1), [0b1001, 0b11, 6]],
    [{ last_bit: 2 }, { kind: "uint", size: 2 }, Uint16Array.of(5, 2, 7), [0b1101_0101, 0b1]],
    [{ last_bit: 4 }, { kind: "int", size: 4 }, Int32Array.of(-16, 15, -1), [0b1111_0000, 0b111_1101]],
    [
      { first_bit: 8, last_bit: 15 },
      { kind: "uint", size: 2 },
      Uint16Array.of(0xabff),
      [0xab],
      Uint16Array.of(0xab00),
    ],
    [{ first_bit: 16 }, { kind: "complex", size: 8 }, Float32Array.of(1.5, -2), [0xc0, 0x3f, 0, 0xc0]],
  ])("%j of %j", async (configuration, dataType, items, bytes, read = items) => {
    const { pipeline, encode, decode } = await packed(
      configuration,
      dataType,
      items.byteLength / dataType.size,
    );
    expect([...(await encode(bytesOf(items)))]).toEqual(bytes);
    expect(pipeline.maxEncodedSize).toBe(bytes.length);
    expect(await decode(Uint8Array.from(bytes))).toEqual(bytesOf(read));
  });

  test("of any type come back as they are where all are kept", () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom<FixedDataType>(
          { kind: "int", size: 1 },
          { kind: "uint", size: 2 },
          { kind: "float", size: 4 },
          { kind: "int", size: 8 },
          { kind: "complex", size: 16 },
        ),
        fc.uint8Array({ minLength: 144, maxLength: 144 }),
        fc.integer({ min: 1, max: 9 }),
        async (dataType, noise, items) => {
          const bytes = new Uint8Array(noise.subarray(0, items * dataType.size));
          const { encode, decode } = await packed({}, dataType, items);
          expect(await encode(bytes)).toEqual(bytes);
          expect(await decode(bytes)).toEqual(bytes);
        },
      ),
      { numRuns: 50 },
    ));

  test("of another length, or with another count of padding, are corrupt; wrong settings are refused", async () => {
    const { decode } = await packed({ padding_encoding: "first_byte" }, BOOL, 10);
    for (const bytes of [Uint8Array.of(6, 1), Uint8Array.of(5, 1, 1)])
      await errorOf(() => decode(bytes), "corrupt-chunk");
    for (const [configuration, dataType] of [
      [{ first_bit: 3, last_bit: 2 }, BOOL],
      [{ first_bit: 1 }, BOOL],
      [{ last_bit: 8 }, { kind: "uint", size: 1 }],
      [{ padding_encoding: "start_byte" }, BOOL],
      [{}, { kind: "raw", size: 2 }],
    ] as const)
      await errorOf(() => packed(configuration, dataType, 4), "invalid-metadata");
  });
});
