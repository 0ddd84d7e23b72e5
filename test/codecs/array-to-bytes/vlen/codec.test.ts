import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createVlenBytes, createVlenUtf8 } from "../../../../src/codecs/array-to-bytes/vlen/codec.ts";
import type { VariableData } from "../../../../src/codecs/chunk-data.ts";
import type { ArrayToBytesCodec } from "../../../../src/codecs/codec.ts";
import { errorOf, GuardedBuffers, specOf } from "../../support.ts";

const context = (kind: "string" | "binary", shape: readonly number[]) =>
  ({ spec: specOf(shape, { kind }), itemSize: 1, endian: "little" }) as const;
const vlenUtf8 = (...shape: number[]) => createVlenUtf8({}, context("string", shape)) as ArrayToBytesCodec;
const vlenBytes = (...shape: number[]) => createVlenBytes({}, context("binary", shape)) as ArrayToBytesCodec;

/** As numcodecs lays items out. */
function encoded(items: readonly Uint8Array[]): Uint8Array {
  const u32 = (n: number) => [...new Uint8Array(Uint32Array.of(n).buffer)];
  return Uint8Array.from([...u32(items.length), ...items.flatMap((item) => [...u32(item.length), ...item])]);
}

function itemsOf({ bytes, offsets }: VariableData): Uint8Array[] {
  return [...offsets.subarray(1)].map((end, i) => bytes.slice(offsets[i], end));
}

const text = (string: string) => new Uint8Array(Buffer.from(string));

test("any items are packed in place, and written as they were read", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 }), async (items) => {
      const codec = vlenBytes(items.length);
      const buffers = new GuardedBuffers();
      const data = codec.decode(buffers.copyOf(encoded(items)), buffers) as VariableData;
      expect(itemsOf(data)).toEqual(items);
      expect(data.shape).toEqual([items.length]);
      expect(buffers.taken).toBe(1);
      const again = await codec.encode(data, buffers);
      expect(again).toEqual(encoded(items));
      expect(buffers.live).toBe(1);
      buffers.give(again);
    }),
  );
});

test("strings come back, and are stored as vlen-utf8 says", () => {
  const items = ["a", "", "é", "😀", "\ufeffx"].map(text);
  const buffers = new GuardedBuffers();
  const data = vlenUtf8(5).decode(buffers.copyOf(encoded(items)), buffers) as VariableData;
  expect(itemsOf(data)).toEqual(items);
  expect(Buffer.from(encoded(["a", "", "é"].map(text))).toString("hex")).toBe(
    "0300000001000000610000000002000000c3a9",
  );
});

describe("corrupt", () => {
  const decode = (codec: ArrayToBytesCodec, bytes: Uint8Array) =>
    errorOf(() => codec.decode(bytes, new GuardedBuffers()), "corrupt-chunk");
  const three = encoded([text("ab"), text("c"), text("")]);

  test("cut at any byte", async () => {
    for (let length = 0; length < three.length; length++) await decode(vlenUtf8(3), three.slice(0, length));
  });

  test("another count, whatever it claims", async () => {
    expect((await decode(vlenUtf8(2), three.slice())).details).toMatchObject({ expected: 2, found: 3 });
    const lie = three.slice();
    lie.set([255, 255, 255, 255]);
    await decode(vlenUtf8(3), lie);
  });

  test("an item beyond the end", async () => {
    const lie = three.slice();
    lie.set([255, 255, 255, 255], 4);
    expect((await decode(vlenUtf8(3), lie)).message).toContain("item 0");
  });

  test("bytes behind the last item", () => decode(vlenUtf8(3), Uint8Array.from([...three, 0])));

  test("bad UTF-8, and characters cut between items", async () => {
    expect((await decode(vlenUtf8(2), encoded([text("a"), Uint8Array.of(0xff)]))).message).toContain(
      "item 1",
    );
    const [first, second] = text("é");
    const cut = [Uint8Array.of(first ?? 0), Uint8Array.of(second ?? 0)];
    expect((await decode(vlenUtf8(2), encoded(cut))).message).toContain("item 0");
    expect(itemsOf(vlenBytes(2).decode(encoded(cut), new GuardedBuffers()) as VariableData)).toEqual(cut);
  });
});

test("types that do not fit", async () => {
  await errorOf(() => createVlenUtf8({}, context("binary", [1])), "invalid-metadata");
  await errorOf(() => createVlenBytes({}, context("string", [1])), "invalid-metadata");
  const fixed = { kind: "fixed", bytes: new Uint8Array(1), itemSize: 1, shape: [1], strides: [1] } as const;
  await errorOf(() => vlenUtf8(1).encode(fixed, new GuardedBuffers()), "codec-error");
});
