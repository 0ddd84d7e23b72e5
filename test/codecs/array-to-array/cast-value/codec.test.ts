import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../../src/codecs/chain/pipeline.ts";
import type { CodecConfig } from "../../../../src/meta/array-metadata.ts";
import type { FixedDataType } from "../../../../src/meta/data-type.ts";
import { type Buffers, plainBuffers } from "../../../../src/util/buffers.ts";
import type { JsonObject } from "../../../../src/util/json-value.ts";
import { errorOf, specOf } from "../../support.ts";
import { bytesOf, valueChain } from "../value-codecs.ts";

const F8: FixedDataType = { kind: "float", size: 8 };
const cast = (configuration: JsonObject, dataType: FixedDataType = F8, items = 3) =>
  valueChain("cast_value", configuration, dataType, items);

test("numbers become the same of another type, and back", async () => {
  const { encode, decode, pipeline } = await cast({ data_type: "int16" });
  const floats = bytesOf(Float64Array.of(-5, 0, 700));
  const encoded = await encode(floats);
  expect(encoded).toEqual(bytesOf(Int16Array.of(-5, 0, 700)));
  expect(await decode(encoded)).toEqual(floats);
  expect(pipeline.maxEncodedSize).toBe(6);
  expect(pipeline.decodedSize).toBe(24);
  expect(pipeline.scratchSize).toBeGreaterThanOrEqual(6);
});

test.each<[FixedDataType, string, Uint8Array, Uint8Array]>([
  [{ kind: "uint", size: 8 }, "float32", bytesOf(BigUint64Array.of(7n)), bytesOf(Float32Array.of(7))],
  [{ kind: "int", size: 1 }, "int64", bytesOf(Int8Array.of(-7)), bytesOf(BigInt64Array.of(-7n))],
  [{ kind: "float", size: 4 }, "float16", bytesOf(Float32Array.of(1)), Uint8Array.of(0, 0x3c)],
  [{ kind: "int", size: 4 }, "uint32", bytesOf(Int32Array.of(9)), bytesOf(Uint32Array.of(9))],
])("%j as %s", async (dataType, target, decoded, encoded) => {
  const codec = await cast({ data_type: target }, dataType, 1);
  expect(await codec.encode(decoded)).toEqual(encoded);
  expect(await codec.decode(encoded)).toEqual(decoded);
});

describe("numbers that do not fit", () => {
  const floats = bytesOf(Float64Array.of(-1.5, 2.5, 300));

  test("are refused, unless the options say what they become", async () => {
    await errorOf(async () => (await cast({ data_type: "uint8" })).encode(floats), "codec-error");
    const clamped = await cast({ data_type: "uint8", rounding: "towards-zero", out_of_range: "clamp" });
    expect([...(await clamped.encode(floats))]).toEqual([0, 2, 255]);
    const wrapped = await cast({ data_type: "uint8", rounding: "nearest-away", out_of_range: "wrap" });
    expect([...(await wrapped.encode(floats))]).toEqual([254, 3, 44]);
  });

  test("wrapping is for integers", async () => {
    await errorOf(() => cast({ data_type: "float32", out_of_range: "wrap" }), "invalid-metadata");
  });

  test("of a chunk are refused when it is decoded, too", async () => {
    const narrow = await cast({ data_type: "int64" }, { kind: "int", size: 1 }, 1);
    await errorOf(() => narrow.decode(bytesOf(BigInt64Array.of(128n))), "codec-error");
  });
});

describe("scalar_map", () => {
  const map = {
    encode: [
      ["NaN", 255],
      ["+Infinity", 254],
      [0, 7],
      [0, 8],
    ],
    decode: [
      [255, "NaN"],
      [254, "Infinity"],
    ],
  };

  test("says what single numbers become, the first of equal ones", async () => {
    const { encode, decode } = await cast({ data_type: "uint8", scalar_map: map }, F8, 4);
    const encoded = await encode(bytesOf(Float64Array.of(NaN, Infinity, -0, 3)));
    expect([...encoded]).toEqual([255, 254, 7, 3]);
    expect(await decode(encoded)).toEqual(bytesOf(Float64Array.of(NaN, Infinity, 7, 3)));
  });

  test.each<[JsonObject]>([
    [{ encode: "NaN" }],
    [{ encode: [["NaN"]] }],
    [{ encode: [["NaN", 256]] }],
    [{ encode: [["abc", 1]] }],
    [{ other: [] }],
  ])("%j is refused", async (scalar_map) => {
    await errorOf(() => cast({ data_type: "uint8", scalar_map }), "invalid-metadata");
  });
});

test("the fill value must come back", async () => {
  const fill = (value: number) => bytesOf(Float64Array.of(value));
  await valueChain("cast_value", { data_type: "int8" }, F8, 1, fill(3));
  for (const value of [0.5, 300, NaN]) {
    const error = await errorOf(
      () => valueChain("cast_value", { data_type: "int8" }, F8, 1, fill(value)),
      "invalid-metadata",
    );
    expect(error.details).toMatchObject({ codec: "cast_value", pointer: "/codecs/0" });
  }
});

test.each<[JsonObject, FixedDataType]>([
  [{}, F8],
  [{ data_type: "string" }, F8],
  [{ data_type: "complex64" }, F8],
  [{ data_type: "int8" }, { kind: "bool", size: 1 }],
  [{ data_type: "int8", rounding: "up" }, F8],
  [{ data_type: "int8", surprise: 1 }, F8],
])("%j over %j is refused", async (configuration, dataType) => {
  await errorOf(() => cast(configuration, dataType), "invalid-metadata");
});

test("a type that is not known is refused by its name", async () => {
  const error = await errorOf(() => cast({ data_type: "int5" }), "unsupported-data-type");
  expect(error.message).toContain("`data_type`");
});

test("stands before and behind a transpose, and in front of filters", async () => {
  const configs: CodecConfig[] = [
    { name: "cast_value", configuration: { data_type: "int16" } },
    { name: "transpose", configuration: { order: [1, 0] } },
    { name: "bytes", configuration: { endian: "big" } },
    { name: "delta", configuration: { dtype: ">i2" } },
  ];
  const pipeline = await createPipeline(configs, specOf([2, 3], F8));
  expect(pipeline.strides).toEqual([1, 2]);
  const bytes = bytesOf(Float64Array.of(1, 4, 2, 5, 3, 6));
  const data = { kind: "fixed", bytes, itemSize: 8, shape: [2, 3], strides: pipeline.strides } as const;
  const encoded = await pipeline.encode({ ...data, bytes: bytes.slice() }, plainBuffers);
  expect([...encoded]).toEqual([0, 1, 0, 3, 0xff, 0xfe, 0, 3, 0xff, 0xfe, 0, 3]);
  expect(await pipeline.decode(encoded, plainBuffers)).toEqual(data);
});

test("what a step holds stays within the stated scratch", async () => {
  const configs: CodecConfig[] = [
    { name: "cast_value", configuration: { data_type: "int16" } },
    { name: "cast_value", configuration: { data_type: "float32" } },
    { name: "bytes", configuration: { endian: "little" } },
    { name: "zlib", configuration: { level: 1 } },
  ];
  const pipeline = await createPipeline(configs, specOf([1000], F8));
  let held = 0;
  let most = 0;
  const buffers: Buffers = {
    take(byteLength) {
      held += byteLength;
      most = Math.max(most, held);
      return new Uint8Array(byteLength);
    },
    give(view) {
      held -= view.buffer.byteLength;
    },
  };
  const data = { kind: "fixed", itemSize: 8, shape: [1000], strides: [1] } as const;
  const encoded = await pipeline.encode({ ...data, bytes: buffers.take(8000) }, buffers);
  const limit = pipeline.decodedSize + pipeline.maxEncodedSize + pipeline.scratchSize;
  expect(most).toBeLessThanOrEqual(limit);
  most = held;
  buffers.give((await pipeline.decode(encoded, buffers)).bytes);
  expect(most).toBeLessThanOrEqual(limit);
  expect(held).toBe(0);
});

test("integers come back from any wider type", () =>
  fc.assert(
    fc.asyncProperty(
      fc.int16Array({ minLength: 1, maxLength: 20 }),
      fc.constantFrom("int32", "int64", "float32", "float64"),
      async (numbers, data_type) => {
        const bytes = bytesOf(numbers);
        const { encode, decode } = await cast({ data_type }, { kind: "int", size: 2 }, numbers.length);
        expect(await decode(await encode(bytes))).toEqual(bytes);
      },
    ),
    { numRuns: 40 },
  ));
