// @module-tag slow
import { deflateRawSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import {
  assertInflatedSize,
  fflateInflater,
  type Inflater,
  Inflation,
  inflate,
  nodeInflater,
  OpenInflations,
} from "../../../src/stores/zip/inflate.ts";
import { assertBytes } from "../support.ts";

const VALUE = new Uint8Array(400_000).map((_, i) => (i * i) >> 7);
const SIZE = VALUE.length;
const PACKED = deflateRawSync(VALUE);
const CORRUPT = { code: "corrupt-store" };

async function* inWindows(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < packed.length; at += 1000) yield packed.subarray(at, at + 1000);
}

describe.each<[string, Inflater]>([
  ["node:zlib", nodeInflater],
  ["node:zlib in pieces", { pieces: nodeInflater.pieces }],
  ["fflate", fflateInflater],
])("inflate with %s", (_, inflater) => {
  const part = async (packed: Uint8Array, size: number, offset: number, length: number) => {
    const into = new Uint8Array(length);
    if (length === size) await inflate(packed, into, inflater);
    else await new Inflation(inflater.pieces(inWindows(packed)), size).fill(offset, into);
    return into;
  };

  it("gives whole values and parts", async () => {
    const ranges = [0, 10, 399_990, 10, 65_530, 200_000, 70_000, 0, 0, SIZE];
    for (let i = 0; i < ranges.length; i += 2) {
      const [offset = 0, length = 0] = ranges.slice(i);
      assertBytes(await part(PACKED, SIZE, offset, length), VALUE.subarray(offset, offset + length));
    }
    expect(await part(deflateRawSync(new Uint8Array(0)), 0, 0, 0)).toEqual(new Uint8Array(0));
    expect(await part(deflateRawSync(VALUE.subarray(0, 9)), 9, 0, 9)).toEqual(VALUE.subarray(0, 9));
  });

  it("refuses a wrong size, and broken and truncated data, but reads no further than a part needs", async () => {
    for (const size of [SIZE - 1, SIZE + 1])
      await expect(part(PACKED, size, 0, size)).rejects.toMatchObject(CORRUPT);
    const broken = new Uint8Array(PACKED).fill(0xff, 100, 200);
    for (const packed of [broken, PACKED.subarray(0, 5000), PACKED.subarray(0, 0), PACKED.subarray(0, -1)])
      await expect(part(packed, SIZE, 0, SIZE)).rejects.toMatchObject(CORRUPT);
    const brokenLater = new Uint8Array(PACKED).fill(0xff, PACKED.length - 1000);
    expect(await part(brokenLater, SIZE, 0, 100)).toEqual(VALUE.subarray(0, 100));
  });
});

describe("open inflations", () => {
  const count = { begun: 0, used: 0, ended: 0 };
  beforeEach(() => void Object.assign(count, { begun: 0, used: 0, ended: 0 }));

  async function* counted(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of nodeInflater.pieces(inWindows(PACKED))) {
        count.used += piece.length;
        yield piece;
      }
    } finally {
      count.ended++;
    }
  }
  const begin = () => {
    count.begun++;
    return new Inflation(counted(), SIZE);
  };

  it.each([false, true])(
    "inflate each byte once for parts that follow one another (together: %s)",
    async (areTogether) => {
      const open = new OpenInflations();
      const into = new Uint8Array(SIZE);
      const parts: Promise<void>[] = [];
      for (let at = 0; at < SIZE; at += 30_000) {
        const part = open.fill(7, at, into.subarray(at, Math.min(SIZE, at + 30_000)), begin);
        parts.push(part);
        if (!areTogether) await part;
      }
      await Promise.all(parts);
      assertBytes(into, VALUE);
      await open.end();
      expect(count).toMatchObject({ begun: 1, used: SIZE });
    },
  );

  it("give parts in any order, of several entries at one time, and keep few", async () => {
    const open = new OpenInflations();
    const offsets = Array.from({ length: 60 }, (_, i) => (i * 7919 * 31) % (SIZE - 5000));
    const fill = async (offset: number, i: number) => {
      const into = new Uint8Array(5000);
      await open.fill(i % 3, offset, into, begin);
      assertBytes(into, VALUE.subarray(offset, offset + 5000));
    };
    await Promise.all(offsets.map(fill));
    expect(count.begun - count.ended).toBeLessThanOrEqual(16);
    await open.end();
    expect(count.ended).toBe(count.begun);
  });

  it("inflate each byte once of many values that are read at one time, and of one beside many", async () => {
    const open = new OpenInflations();
    const read = async (entry: number) => {
      for (let at = 0; at < SIZE; at += 50_000)
        await open.fill(entry, at, new Uint8Array(Math.min(50_000, SIZE - at)), begin);
    };
    await Promise.all(Array.from({ length: 16 }, (_, entry) => read(entry)));
    expect(count).toEqual({ begun: 16, used: 16 * SIZE, ended: 16 });
    const beside = async () => {
      for (let entry = 100; entry < 130; entry++) await read(entry);
    };
    await Promise.all([read(99), beside()]);
    expect(count).toMatchObject({ begun: 47, ended: 47 });
  });

  it("begin anew after a failure", async () => {
    const open = new OpenInflations();
    const broken = () => new Inflation(nodeInflater.pieces(inWindows(PACKED.subarray(0, 5000))), SIZE);
    const into = new Uint8Array(SIZE - 10);
    await expect(open.fill(1, 0, into, broken)).rejects.toMatchObject(CORRUPT);
    await open.fill(1, 0, into, begin);
    assertBytes(into, VALUE.subarray(0, SIZE - 10));
    await open.end();
  });
});

it("sizes that deflate cannot reach, or that nobody deflates so badly, are refused", () => {
  const zeros = deflateRawSync(new Uint8Array(10_000_000), { level: 9 }).length;
  for (const [packed, size] of [
    [zeros, 10_000_000],
    [100_000, 50_000],
  ] as const)
    assertInflatedSize(packed, size);
  for (const [packed, size] of [
    [zeros, 11_000_000],
    [100_000, 1000],
  ] as const)
    expect(() => assertInflatedSize(packed, size)).toThrow(expect.objectContaining(CORRUPT));
});
