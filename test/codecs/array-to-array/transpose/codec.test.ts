import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTranspose } from "../../../../src/codecs/array-to-array/transpose/codec.ts";
import type { ChunkData, FixedData, VariableData } from "../../../../src/codecs/chunk-data.ts";
import type { ArrayToArrayCodec } from "../../../../src/codecs/codec.ts";
import type { JsonValue } from "../../../../src/util/json-value.ts";
import { coordsOf, cStrides, indexOf, product } from "../../../../src/util/shape.ts";
import { errorOf, GuardedBuffers, RAW, specOf } from "../../support.ts";

const make = (order: JsonValue, shape: readonly number[]) =>
  createTranspose(
    { order },
    { spec: specOf(shape, RAW(1)), itemSize: 1, endian: "little" },
  ) as ArrayToArrayCodec;

const shapeAndOrder = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 4 }).chain((shape) => {
  const dimensions = shape.map((_, d) => d);
  return fc.tuple(
    fc.constant(shape),
    fc.shuffledSubarray(dimensions, { minLength: shape.length, maxLength: shape.length }),
  );
});

describe("fixed items", () => {
  test("B[p] = A[q] where p[i] = q[order[i]], and back", () => {
    fc.assert(
      fc.property(shapeAndOrder, ([shape, order]) => {
        const codec = make(order, shape);
        const buffers = new GuardedBuffers();
        const a: FixedData = {
          kind: "fixed",
          bytes: Uint8Array.from({ length: product(shape) }, (_, i) => i),
          itemSize: 1,
          shape,
          strides: cStrides(shape),
        };
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
});

describe("items of varying size", () => {
  test("move, and come back", async () => {
    await fc.assert(
      fc.asyncProperty(shapeAndOrder, async ([shape, order]) => {
        const codec = make(order, shape);
        const buffers = new GuardedBuffers();
        const a = strings(shape, buffers);
        const items = new Map([...coordsOf(shape)].map((q) => [order.map((d) => q[d]).join(), item(a, q)]));
        const b = codec.encode(a, buffers);
        for (const p of coordsOf(b.shape)) expect(item(b, p)).toBe(items.get(p.join()));
        const back = await codec.decode(b, buffers);
        for (const q of coordsOf(shape)) {
          expect(item(back, q)).toBe(items.get(order.map((d) => q[d]).join()));
        }
        expect(buffers.live).toBe(1);
      }),
      { numRuns: 50 },
    );
  });
});

test("C and F of older writers", () => {
  const shape = (order: string) => make(order, [2, 3, 4]).encodedSpec(specOf([2, 3, 4], RAW(1))).shape;
  expect(shape("C")).toEqual([2, 3, 4]);
  expect(shape("F")).toEqual([4, 3, 2]);
});

test.each([[[0, 0]], [[0]], [[0, 2]], ["K"], [null], [[0, "1"]]] as JsonValue[][])(
  "order %j is refused",
  async (order) => {
    await errorOf(() => make(order ?? null, [2, 3]), "invalid-metadata");
  },
);

function item(data: ChunkData, coords: readonly number[]): string {
  if (data.kind === "fixed") {
    return String(data.bytes[coords.reduce((sum, c, d) => sum + c * (data.strides[d] ?? 0), 0)]);
  }
  const [start, end] = data.offsets.subarray(indexOf(coords, data.shape));
  return Buffer.from(data.bytes.subarray(start, end)).toString();
}

function strings(shape: readonly number[], buffers: GuardedBuffers): VariableData {
  const items = Array.from({ length: product(shape) }, (_, i) => "x".repeat(i % 3) + i);
  const offsets = new Uint32Array(items.length + 1);
  for (const [i, text] of items.entries()) offsets[i + 1] = (offsets[i] ?? 0) + text.length;
  return { kind: "variable", bytes: buffers.copyOf(Buffer.from(items.join(""))), offsets, shape };
}
