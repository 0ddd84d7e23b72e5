// @module-tag slow
import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  assertInflatedSize,
  fflateInflater,
  type Inflater,
  inflate,
  nodeInflater,
} from "../../../src/stores/zip/inflate.ts";
import { assertBytes } from "../expect-bytes.ts";

const VALUE = new Uint8Array(400_000).map((_, i) => (i * i) >> 7);
const PACKED = deflateRawSync(VALUE);

describe.each<[string, Inflater]>([
  ["node:zlib", nodeInflater],
  ["node:zlib in pieces", { pieces: nodeInflater.pieces }],
  ["fflate", fflateInflater],
])("inflate with %s", (_, inflater) => {
  const part = async (packed: Uint8Array, size: number, offset: number, length: number) => {
    const into = new Uint8Array(length);
    await inflate(packed, size, offset, into, inflater);
    return into;
  };

  it("gives whole values and parts", async () => {
    assertBytes(await part(PACKED, VALUE.length, 0, VALUE.length), VALUE);
    for (const [offset, length] of [
      [0, 10],
      [399_990, 10],
      [65_530, 200_000],
      [70_000, 0],
    ] as const) {
      expect(await part(PACKED, VALUE.length, offset, length)).toEqual(
        VALUE.subarray(offset, offset + length),
      );
    }
    expect(await part(deflateRawSync(new Uint8Array(0)), 0, 0, 0)).toEqual(new Uint8Array(0));
    expect(await part(deflateRawSync(VALUE.subarray(0, 9)), 9, 0, 9)).toEqual(VALUE.subarray(0, 9));
  });

  it.each([-1, 1])("refuses a size that is wrong by %i", async (by) => {
    const size = VALUE.length - by;
    await expect(part(PACKED, size, 0, size)).rejects.toMatchObject({ code: "corrupt-store" });
  });

  it("refuses broken and truncated data", async () => {
    const broken = new Uint8Array(PACKED).fill(0xff, 100, 200);
    for (const packed of [broken, PACKED.subarray(0, 5000), PACKED.subarray(0, 0), PACKED.subarray(0, -1)]) {
      await expect(part(packed, VALUE.length, 0, VALUE.length)).rejects.toMatchObject({
        code: "corrupt-store",
      });
    }
  });

  it("reads no further than a part needs", async () => {
    const broken = new Uint8Array(PACKED).fill(0xff, PACKED.length - 1000);
    expect(await part(broken, VALUE.length, 0, 100)).toEqual(VALUE.subarray(0, 100));
  });
});

describe("assertInflatedSize", () => {
  it("refuses what deflate cannot do", () => {
    const zeros = deflateRawSync(new Uint8Array(10_000_000), { level: 9 });
    expect(() => assertInflatedSize(zeros.length, 10_000_000)).not.toThrow();
    expect(() => assertInflatedSize(zeros.length, 11_000_000)).toThrow(
      expect.objectContaining({ code: "corrupt-store" }),
    );
  });

  it("refuses what nobody deflates so badly", () => {
    expect(() => assertInflatedSize(100_000, 50_000)).not.toThrow();
    expect(() => assertInflatedSize(100_000, 1000)).toThrow(
      expect.objectContaining({ code: "corrupt-store" }),
    );
  });
});
