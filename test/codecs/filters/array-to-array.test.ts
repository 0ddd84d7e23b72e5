import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../src/codecs/chain/codec-chain.ts";
import type { ChunkData, FixedData } from "../../../src/codecs/chunk-data.ts";
import type { ArrayToArrayCodec } from "../../../src/codecs/codec.ts";
import { createTranspose } from "../../../src/codecs/filters/transpose.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import type { FixedDataType } from "../../../src/meta/data-type.ts";
import { plainBuffers } from "../../../src/util/bytes.ts";
import type { JsonObject, JsonValue } from "../../../src/util/json-value.ts";
import { coordsOf, cStrides, indexOf, product } from "../../../src/util/shape.ts";
import { bytesOf, errorOf, fixedCodec, GuardedBuffers, RAW, specOf, variableData } from "../support.ts";

const F8: FixedDataType = { kind: "float", size: 8 };
const INT = (size: 1 | 2 | 4 | 8): FixedDataType => ({ kind: "int", size });
const UINT = (size: 1 | 2 | 4 | 8): FixedDataType => ({ kind: "uint", size });

/** One array -> array codec in front of little-endian `bytes`. */
const chainOf =
  (name: string) =>
  (configuration: JsonObject, dataType: FixedDataType = F8, items = 3, fill: Uint8Array | null = null) =>
    fixedCodec(
      [
        { name, configuration },
        { name: "bytes", configuration: { endian: "little" } },
      ],
      dataType,
      items,
      fill,
    );

describe("cast_value", () => {
  const cast = chainOf("cast_value");

  test.each<[FixedDataType, string, ArrayBufferView, ArrayBufferView]>([
    [F8, "int16", Float64Array.of(-5, 0, 700), Int16Array.of(-5, 0, 700)],
    [UINT(8), "float32", BigUint64Array.of(7n), Float32Array.of(7)],
    [INT(1), "int64", Int8Array.of(-7), BigInt64Array.of(-7n)],
    [{ kind: "float", size: 4 }, "float16", Float32Array.of(1), Uint8Array.of(0, 0x3c)],
    [INT(4), "uint32", Int32Array.of(9), Uint32Array.of(9)],
  ])("%j become %s, and come back", async (dataType, data_type, decoded, encoded) => {
    const codec = await cast({ data_type }, dataType, decoded.byteLength / dataType.size);
    expect(await codec.encode(bytesOf(decoded))).toEqual(bytesOf(encoded));
    expect(await codec.decode(bytesOf(encoded))).toEqual(bytesOf(decoded));
    const { maxEncodedSize, decodedSize } = codec.pipeline;
    expect([maxEncodedSize, decodedSize]).toEqual([encoded.byteLength, decoded.byteLength]);
  });

  test("integers come back from any wider type", () =>
    fc.assert(
      fc.asyncProperty(
        fc.int16Array({ minLength: 1, maxLength: 20 }),
        fc.constantFrom("int32", "int64", "float32", "float64"),
        async (numbers, data_type) => {
          const { encode, decode } = await cast({ data_type }, INT(2), numbers.length);
          expect(await decode(await encode(bytesOf(numbers)))).toEqual(bytesOf(numbers));
        },
      ),
      { numRuns: 40 },
    ));

  test("numbers that do not fit are refused both ways, unless the options say what they become", async () => {
    const floats = bytesOf(Float64Array.of(-1.5, 2.5, 300));
    await errorOf(async () => (await cast({ data_type: "uint8" })).encode(floats), "codec-error");
    for (const [rounding, out_of_range, items] of [
      ["towards-zero", "clamp", [0, 2, 255]],
      ["nearest-away", "wrap", [254, 3, 44]],
    ] as const) {
      const codec = await cast({ data_type: "uint8", rounding, out_of_range });
      expect([...(await codec.encode(floats))]).toEqual(items);
    }
    const narrow = await cast({ data_type: "int64" }, INT(1), 1);
    await errorOf(() => narrow.decode(bytesOf(BigInt64Array.of(128n))), "codec-error");
  });

  test("`scalar_map` says what single numbers become, the first of equal ones", async () => {
    const encode: JsonValue[] = ["NaN", "+Infinity", 0, 0].map((value, i) => [
      value,
      [255, 254, 7, 8][i] ?? 0,
    ]);
    const decode: JsonValue[] = ["NaN", "Infinity"].map((value, i) => [255 - i, value]);
    const codec = await cast({ data_type: "uint8", scalar_map: { encode, decode } }, F8, 4);
    const encoded = await codec.encode(bytesOf(Float64Array.of(NaN, Infinity, -0, 3)));
    expect([...encoded]).toEqual([255, 254, 7, 3]);
    expect(await codec.decode(encoded)).toEqual(bytesOf(Float64Array.of(NaN, Infinity, 7, 3)));
  });

  test("the fill value must come back", async () => {
    const filled = (value: number) => cast({ data_type: "int8" }, F8, 1, bytesOf(Float64Array.of(value)));
    await filled(3);
    for (const value of [0.5, 300, NaN]) {
      const { details } = await errorOf(() => filled(value), "invalid-metadata");
      expect(details).toMatchObject({ codec: "cast_value", pointer: "/codecs/0" });
    }
  });

  test.each<[JsonObject, FixedDataType?]>([
    [{}],
    [{ data_type: "string" }],
    [{ data_type: "complex64" }],
    [{ data_type: "int8" }, { kind: "bool", size: 1 }],
    [{ data_type: "int8", rounding: "up" }],
    [{ data_type: "int8", surprise: 1 }],
    [{ data_type: "float32", out_of_range: "wrap" }],
    [{ data_type: "uint8", scalar_map: { encode: "NaN" } }],
    [{ data_type: "uint8", scalar_map: { encode: [["NaN"]] } }],
    [{ data_type: "uint8", scalar_map: { encode: [["NaN", 256]] } }],
    [{ data_type: "uint8", scalar_map: { encode: [["abc", 1]] } }],
    [{ data_type: "uint8", scalar_map: { other: [] } }],
  ])("%j is refused", async (configuration, dataType) => {
    await errorOf(() => cast(configuration, dataType), "invalid-metadata");
    const unknown = await errorOf(() => cast({ data_type: "int5" }), "unsupported-data-type");
    expect(unknown.message).toContain("`data_type`");
  });

  test("stands before and behind a transpose, and in front of filters", async () => {
    const configs: CodecConfig[] = [
      { name: "cast_value", configuration: { data_type: "int16" } },
      { name: "transpose", configuration: { order: [1, 0] } },
      { name: "bytes", configuration: { endian: "big" } },
      { name: "delta", configuration: { dtype: ">i2" } },
    ];
    const pipeline = await createPipeline(configs, specOf([2, 3], F8));
    const { strides } = pipeline;
    expect(strides).toEqual([1, 2]);
    const bytes = bytesOf(Float64Array.of(1, 4, 2, 5, 3, 6));
    const data = { kind: "fixed", bytes, itemSize: 8, shape: [2, 3], strides } as const;
    const encoded = await pipeline.encode({ ...data, bytes: bytes.slice() }, plainBuffers);
    expect([...encoded]).toEqual([0, 1, 0, 3, 0xff, 0xfe, 0, 3, 0xff, 0xfe, 0, 3]);
    expect(await pipeline.decode(encoded, plainBuffers)).toEqual(data);
  });
});

describe("scale_offset", () => {
  const scale = chainOf("scale_offset");

  test("moves floats, then scales them, in their own arithmetic; without options nothing changes", async () => {
    const { encode, decode } = await scale({ offset: 5, scale: 0.1 }, { kind: "float", size: 4 });
    const encoded = await encode(bytesOf(Float32Array.of(5, 15, NaN)));
    expect(encoded).toEqual(bytesOf(Float32Array.of(0, Math.fround(10 * Math.fround(0.1)), NaN)));
    expect(await decode(encoded)).toEqual(bytesOf(Float32Array.of(5, 15, NaN)));
    const same = bytesOf(Uint16Array.of(1, 65535));
    expect(await (await scale({}, UINT(2), 2)).encode(same)).toEqual(same);
  });

  test.each<[FixedDataType, (values: number[]) => ArrayBufferView]>([
    [UINT(2), (values) => Uint16Array.from(values)],
    [INT(8), (values) => BigInt64Array.from(values, BigInt)],
  ])("integers of %j come back, or are refused on the way", async (dataType, from) => {
    const { encode, decode } = await scale({ offset: 1000, scale: 3 }, dataType, 2);
    const items = bytesOf(from([1000, 1255]));
    expect(await encode(items)).toEqual(bytesOf(from([0, 765])));
    expect(await decode(bytesOf(from([0, 765])))).toEqual(items);
    await errorOf(() => decode(bytesOf(from([0, 764]))), "codec-error");
  });

  test("what the type cannot hold on the way is refused", async () => {
    const unsigned = await scale({ offset: 1000 }, UINT(2), 1);
    await errorOf(() => unsigned.encode(bytesOf(Uint16Array.of(999))), "codec-error");
    await errorOf(() => unsigned.decode(bytesOf(Uint16Array.of(65_000))), "codec-error");
    const wide = await scale({ scale: 2 }, INT(8), 1);
    await errorOf(() => wide.encode(bytesOf(BigInt64Array.of(2n ** 62n))), "codec-error");
    const nothing = await scale({ scale: 0 }, INT(4), 1);
    await errorOf(() => nothing.decode(bytesOf(Int32Array.of(0))), "codec-error");
  });

  test.each<[JsonObject, FixedDataType?]>([
    [{ scale: 0.5 }, INT(4)],
    [{ offset: 300 }, UINT(1)],
    [{ offset: "a" }],
    [{ factor: 1 }],
    [{}, { kind: "complex", size: 8 }],
  ])("%j over %j is refused", async (configuration, dataType) => {
    await errorOf(() => scale(configuration, dataType), "invalid-metadata");
  });
});

describe("transpose", () => {
  const make = (order: JsonValue, shape: readonly number[]) =>
    createTranspose(
      { order },
      { spec: specOf(shape, RAW(1)), itemSize: 1, endian: "little" },
    ) as ArrayToArrayCodec;

  const shapeAndOrder = fc
    .array(fc.integer({ min: 1, max: 5 }), { maxLength: 4 })
    .chain((shape) =>
      fc.tuple(fc.constant(shape), fc.shuffledSubarray([...shape.keys()], { minLength: shape.length })),
    );

  function item(data: ChunkData, coords: readonly number[]): string {
    if (data.kind === "fixed") {
      return String(data.bytes[coords.reduce((sum, c, d) => sum + c * (data.strides[d] ?? 0), 0)]);
    }
    const [start, end] = data.offsets.subarray(indexOf(coords, data.shape));
    return Buffer.from(data.bytes.subarray(start, end)).toString();
  }

  test("of fixed items B[p] = A[q] where p[i] = q[order[i]], and back", () => {
    fc.assert(
      fc.property(shapeAndOrder, ([shape, order]) => {
        const codec = make(order, shape);
        const buffers = new GuardedBuffers();
        const bytes = Uint8Array.from({ length: product(shape) }, (_, i) => i);
        const a: FixedData = { kind: "fixed", bytes, itemSize: 1, shape, strides: cStrides(shape) };
        const b = codec.encode(a, buffers);
        expect(b.shape).toEqual(codec.encodedSpec(specOf(shape, RAW(1))).shape);
        for (const q of coordsOf(shape)) {
          const p = order.map((d) => q[d] ?? 0);
          expect(item(b, p)).toBe(item(a, q));
        }
        expect(b.bytes).toBe(a.bytes);
        expect(codec.decode(b, buffers)).toEqual(a);
      }),
    );
  });

  test("items of varying size move, and come back", async () => {
    await fc.assert(
      fc.asyncProperty(shapeAndOrder, async ([shape, order]) => {
        const codec = make(order, shape);
        const buffers = new GuardedBuffers();
        const texts = Array.from({ length: product(shape) }, (_, i) => Buffer.from("x".repeat(i % 3) + i));
        const a = variableData(texts, shape, buffers);
        const items = new Map([...coordsOf(shape)].map((q) => [order.map((d) => q[d]).join(), item(a, q)]));
        const b = codec.encode(a, buffers);
        for (const p of coordsOf(b.shape)) expect(item(b, p)).toBe(items.get(p.join()));
        const back = await codec.decode(b, buffers);
        for (const q of coordsOf(shape)) expect(item(back, q)).toBe(items.get(order.map((d) => q[d]).join()));
        expect(buffers.live).toBe(1);
      }),
      { numRuns: 50 },
    );
  });

  test("takes C and F of older writers, and refuses all other orders", async () => {
    const shape = (order: string) => make(order, [2, 3, 4]).encodedSpec(specOf([2, 3, 4], RAW(1))).shape;
    expect([shape("C"), shape("F")]).toEqual([
      [2, 3, 4],
      [4, 3, 2],
    ]);
    for (const order of [[0, 0], [0], [0, 2], "K", null, [0, "1"]])
      await errorOf(() => make(order, [2, 3]), "invalid-metadata");
  });
});
