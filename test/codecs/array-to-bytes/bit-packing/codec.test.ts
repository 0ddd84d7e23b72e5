import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../../src/codecs/chain/pipeline.ts";
import type { FixedData } from "../../../../src/codecs/chunk-data.ts";
import type { FixedDataType } from "../../../../src/meta/data-type.ts";
import type { JsonObject } from "../../../../src/util/json-value.ts";
import { cStrides } from "../../../../src/util/shape.ts";
import { errorOf, GuardedBuffers, specOf } from "../../support.ts";

async function codec(configuration: JsonObject, dataType: FixedDataType, items: number) {
  const pipeline = await createPipeline([{ name: "v3.packbits", configuration }], specOf([items], dataType));
  const shape = [items];
  return {
    async encode(bytes: Uint8Array): Promise<Uint8Array> {
      const buffers = new GuardedBuffers();
      const data: FixedData = {
        kind: "fixed",
        bytes: buffers.copyOf(bytes),
        itemSize: dataType.size,
        shape,
        strides: cStrides(shape),
      };
      const encoded = await pipeline.encode(data, buffers);
      expect(encoded.length).toBe(pipeline.maxEncodedSize);
      const copy = encoded.slice();
      buffers.give(encoded);
      expect(buffers.live).toBe(0);
      return copy;
    },
    async decode(bytes: Uint8Array): Promise<Uint8Array> {
      const buffers = new GuardedBuffers();
      try {
        const decoded = await pipeline.decode(buffers.copyOf(bytes), buffers);
        const copy = decoded.bytes.slice();
        buffers.give(decoded.bytes);
        return copy;
      } finally {
        expect(buffers.live).toBe(0);
      }
    },
  };
}

const BOOL: FixedDataType = { kind: "bool", size: 1 };
const flags = Uint8Array.of(1, 0, 0, 1, 0, 0, 0, 0, 1, 1);

describe("booleans", () => {
  test.each([
    ["none", [0b0000_1001, 0b11]],
    ["first_byte", [6, 0b0000_1001, 0b11]],
    ["last_byte", [0b0000_1001, 0b11, 6]],
  ])("with padding in %s", async (padding, bytes) => {
    const { encode, decode } = await codec({ padding_encoding: padding }, BOOL, 10);
    expect([...(await encode(flags))]).toEqual(bytes);
    expect(await decode(Uint8Array.from(bytes))).toEqual(flags);
  });

  test("another length, or count of padding, is corrupt", async () => {
    const { decode } = await codec({ padding_encoding: "first_byte" }, BOOL, 10);
    await errorOf(() => decode(Uint8Array.of(6, 1)), "corrupt-chunk");
    await errorOf(() => decode(Uint8Array.of(5, 1, 1)), "corrupt-chunk");
  });
});

test("numbers of few bits lie side by side, the lowest first", async () => {
  const { encode, decode } = await codec({ last_bit: 2 }, { kind: "uint", size: 2 }, 3);
  const items = new Uint8Array(Uint16Array.of(5, 2, 7).buffer);
  const encoded = await encode(items);
  expect([...encoded]).toEqual([0b1101_0101, 0b1]);
  expect(await decode(encoded)).toEqual(items);
});

test("numbers with a sign keep it, others are filled with zeros", async () => {
  const signed = await codec({ last_bit: 4 }, { kind: "int", size: 4 }, 3);
  const items = new Uint8Array(Int32Array.of(-16, 15, -1).buffer);
  expect(await signed.decode(await signed.encode(items))).toEqual(items);
  const high = await codec({ first_bit: 8, last_bit: 15 }, { kind: "uint", size: 2 }, 1);
  expect([...(await high.decode(await high.encode(Uint8Array.of(0xff, 0xab))))]).toEqual([0, 0xab]);
});

test("of complex numbers each part is cut by itself", async () => {
  const { encode, decode } = await codec({ first_bit: 16 }, { kind: "complex", size: 8 }, 1);
  const items = new Uint8Array(Float32Array.of(1.5, -2).buffer);
  const encoded = await encode(items);
  expect(encoded).toHaveLength(4);
  expect(await decode(encoded)).toEqual(items);
});

test("all bits of any type come back", () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom<FixedDataType>(
        { kind: "int", size: 1 },
        { kind: "uint", size: 2 },
        { kind: "float", size: 4 },
        { kind: "int", size: 8 },
        { kind: "complex", size: 16 },
      ),
      fc.integer({ min: 1, max: 9 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 255 })),
      async (dataType, items, stream) => {
        const bytes = Uint8Array.from([...stream.take(items * dataType.size)]);
        const { encode, decode } = await codec({}, dataType, items);
        const encoded = await encode(bytes);
        expect(encoded).toEqual(bytes);
        expect(await decode(encoded)).toEqual(bytes);
      },
    ),
    { numRuns: 50 },
  ));

test.each([
  [{ first_bit: 3, last_bit: 2 }, BOOL],
  [{ first_bit: 1 }, BOOL],
  [{ last_bit: 8 }, { kind: "uint", size: 1 }],
  [{ padding_encoding: "start_byte" }, BOOL],
  [{}, { kind: "raw", size: 2 }],
] as const)("%j over %j is refused", async (configuration, dataType) => {
  await errorOf(() => codec(configuration as JsonObject, dataType as FixedDataType, 4), "invalid-metadata");
});
