import fc from "fast-check";
import { expect, test } from "vitest";
import type { FixedDataType } from "../../../../src/meta/data-type.ts";
import type { JsonObject } from "../../../../src/util/json-value.ts";
import { errorOf } from "../../support.ts";
import { bytesOf, valueChain } from "../value-codecs.ts";

const codec = (configuration: JsonObject, dataType: FixedDataType, items: number) =>
  valueChain("scale_offset", configuration, dataType, items);

test("floats are moved, then scaled, in their own arithmetic", async () => {
  const { encode, decode } = await codec({ offset: 5, scale: 0.1 }, { kind: "float", size: 4 }, 3);
  const encoded = await encode(bytesOf(Float32Array.of(5, 15, NaN)));
  expect(encoded).toEqual(bytesOf(Float32Array.of(0, Math.fround(10 * Math.fround(0.1)), NaN)));
  expect(await decode(encoded)).toEqual(bytesOf(Float32Array.of(5, 15, NaN)));
});

test("without options nothing changes", async () => {
  const { encode } = await codec({}, { kind: "uint", size: 2 }, 2);
  expect(await encode(bytesOf(Uint16Array.of(1, 65535)))).toEqual(bytesOf(Uint16Array.of(1, 65535)));
});

test.each<[FixedDataType, (values: number[]) => ArrayBufferView]>([
  [{ kind: "uint", size: 2 }, (values) => Uint16Array.from(values)],
  [{ kind: "int", size: 8 }, (values) => BigInt64Array.from(values, BigInt)],
])("integers of %j come back, or are refused on the way", async (dataType, from) => {
  const { encode, decode } = await codec({ offset: 1000, scale: 3 }, dataType, 2);
  const items = bytesOf(from([1000, 1255]));
  const encoded = await encode(items);
  expect(encoded).toEqual(bytesOf(from([0, 765])));
  expect(await decode(encoded)).toEqual(items);
  await errorOf(() => decode(bytesOf(from([0, 764]))), "codec-error");
});

test("what the type cannot hold on the way is refused", async () => {
  const unsigned = await codec({ offset: 1000 }, { kind: "uint", size: 2 }, 1);
  await errorOf(() => unsigned.encode(bytesOf(Uint16Array.of(999))), "codec-error");
  await errorOf(() => unsigned.decode(bytesOf(Uint16Array.of(65_000))), "codec-error");
  const wide = await codec({ scale: 2 }, { kind: "int", size: 8 }, 1);
  await errorOf(() => wide.encode(bytesOf(BigInt64Array.of(2n ** 62n))), "codec-error");
  const nothing = await codec({ scale: 0 }, { kind: "int", size: 4 }, 1);
  await errorOf(() => nothing.decode(bytesOf(Int32Array.of(0))), "codec-error");
});

test.each<[JsonObject, FixedDataType]>([
  [{ scale: 0.5 }, { kind: "int", size: 4 }],
  [{ offset: 300 }, { kind: "uint", size: 1 }],
  [{ offset: "a" }, { kind: "float", size: 8 }],
  [{ factor: 1 }, { kind: "float", size: 8 }],
  [{}, { kind: "complex", size: 8 }],
])("%j over %j is refused", async (configuration, dataType) => {
  await errorOf(() => codec(configuration, dataType, 1), "invalid-metadata");
});

test("powers of two come back exactly", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 20 }),
      fc.constantFrom(0.25, 2, -8),
      async (values, scale) => {
        const items = bytesOf(Float64Array.from(values));
        const { encode, decode } = await codec(
          { offset: 16, scale },
          { kind: "float", size: 8 },
          values.length,
        );
        expect(await decode(await encode(items))).toEqual(items);
      },
    ),
    { numRuns: 40 },
  ));
