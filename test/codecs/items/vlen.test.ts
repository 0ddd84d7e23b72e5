// @module-tag sampled
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../src/codecs/chain/codec-chain.ts";
import type { VariableData } from "../../../src/codecs/chunk-data.ts";
import type { ArrayToBytesCodec } from "../../../src/codecs/codec.ts";
import { isUtf8 } from "../../../src/codecs/items/packed-items.ts";
import { createVlenBytes, createVlenUtf8 } from "../../../src/codecs/items/vlen.ts";
import { samples } from "../../support/samples.ts";
import { errorOf, GuardedBuffers, itemsOf, specOf, text, utf8, variableCodec } from "../support.ts";

const STRINGS = ["", "\ufeffx", "\0", "😀", "é"];

describe("vlen-utf8 and vlen-bytes", () => {
  const context = (kind: "string" | "binary", shape: readonly number[]) =>
    ({ spec: specOf(shape, { kind }), itemSize: 1, endian: "little" }) as const;
  const vlenUtf8 = (...shape: number[]) => createVlenUtf8({}, context("string", shape)) as ArrayToBytesCodec;
  const vlenBytes = (...shape: number[]) =>
    createVlenBytes({}, context("binary", shape)) as ArrayToBytesCodec;

  /** As numcodecs lays items out. */
  function encoded(items: readonly Uint8Array[]): Uint8Array {
    const u32 = (n: number) => [...new Uint8Array(Uint32Array.of(n).buffer)];
    return Uint8Array.from([
      ...u32(items.length),
      ...items.flatMap((item) => [...u32(item.length), ...item]),
    ]);
  }

  test("any items are packed in place, and written as they were read", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 }), async (items) => {
        const codec = vlenBytes(items.length);
        const buffers = new GuardedBuffers();
        const data = codec.decode(buffers.copyOf(encoded(items)), buffers) as VariableData;
        expect(itemsOf(data)).toEqual(items.map((item) => new Uint8Array(item)));
        expect(data.shape).toEqual([items.length]);
        expect(buffers.taken).toBe(1);
        const again = await codec.encode(data, buffers);
        expect(again).toEqual(encoded(items));
        expect(buffers.live).toBe(1);
        buffers.give(again);
      }),
    );
    const strings = vlenUtf8(5).decode(encoded(STRINGS.map(utf8)), new GuardedBuffers()) as VariableData;
    expect(itemsOf(strings)).toEqual(STRINGS.map(utf8));
    expect(Buffer.from(encoded(["a", "", "é"].map(utf8))).toString("hex")).toBe(
      "0300000001000000610000000002000000c3a9",
    );
  });

  test("what is corrupt is found: cut at any byte, other counts, items beyond the end, bytes behind it", async () => {
    const decode = (codec: ArrayToBytesCodec, bytes: Uint8Array) =>
      errorOf(() => codec.decode(bytes, new GuardedBuffers()), "corrupt-chunk");
    const three = encoded(["ab", "c", ""].map(utf8));
    for (let length = 0; length < three.length; length++) await decode(vlenUtf8(3), three.slice(0, length));
    expect((await decode(vlenUtf8(2), three.slice())).details).toMatchObject({ expected: 2, found: 3 });
    for (const at of [0, 4]) {
      const lie = three.slice();
      lie.set([255, 255, 255, 255], at);
      expect((await decode(vlenUtf8(3), lie)).message).toContain(at === 4 ? "item 0" : "");
    }
    await decode(vlenUtf8(3), Uint8Array.from([...three, 0]));
  });

  test("bad UTF-8, characters cut between items, and types that do not fit are refused", async () => {
    const [first = 0, second = 0] = utf8("é");
    const cut = encoded([Uint8Array.of(first), Uint8Array.of(second)]);
    for (const [bytes, item] of [
      [encoded([utf8("a"), Uint8Array.of(0xff)]), "item 1"],
      [cut, "item 0"],
    ] as const) {
      const error = await errorOf(
        () => vlenUtf8(2).decode(bytes.slice(), new GuardedBuffers()),
        "corrupt-chunk",
      );
      expect(error.message).toContain(item);
    }
    expect(vlenBytes(2).decode(cut, new GuardedBuffers())).toMatchObject({ kind: "variable" });
    await errorOf(() => createVlenUtf8({}, context("binary", [1])), "invalid-metadata");
    await errorOf(() => createVlenBytes({}, context("string", [1])), "invalid-metadata");
    const bytes = new Uint8Array(1);
    const fixed = { kind: "fixed", bytes, itemSize: 1, shape: [1], strides: [1] } as const;
    await errorOf(() => vlenUtf8(1).encode(fixed, new GuardedBuffers()), "codec-error");
  });
});

describe("vlen-array", () => {
  const codec = (dtype: string, items: number) => variableCodec("vlen-array", { dtype }, "object", [items]);

  test("is stored as numcodecs does; null and no text are empty lists", async () => {
    const { encode, decode } = await codec("<f8", 3);
    const items = ["[1.5,2.5]", "[0.25]", "[]"];
    const encoded = await encode(items.map(utf8));
    expect(Buffer.from(encoded).toString("hex")).toBe(
      "0300000010000000000000000000f83f000000000000044008000000000000000000d03f00000000",
    );
    expect((await decode(encoded)).map(text)).toEqual(items);
    const empty = await codec("<i4", 2);
    const lists = await empty.decode(await empty.encode([utf8("null"), utf8("")]));
    expect(lists.map(text)).toEqual(["[]", "[]"]);
  });

  test.each([
    ["|i1", "[-128,127]"],
    [">u2", "[0,65535]"],
    ["<i8", "[-9223372036854775808,9223372036854775807]"],
    [">u8", "[18446744073709551615]"],
    ["<f2", "[1.0,65504.0,NaN]"],
    [">f4", "[0.5,Infinity,-Infinity]"],
    ["|b1", "[true,false]"],
  ])("%s holds %s", async (dtype, list) => {
    const { encode, decode } = await codec(dtype, 1);
    expect((await decode(await encode([utf8(list)]))).map(text)).toEqual([list]);
  });

  test.each([
    ["|u1", "[256]"],
    ["|u1", "[1.5]"],
    ["<i4", '["1"]'],
    ["<i4", "{}"],
    ["<u8", "[-1]"],
    ["<i8", "[1.5]"],
    ["|b1", "[1]"],
    ["|u1", "[true]"],
  ])("%s does not hold %s", async (dtype, list) => {
    const { encode } = await codec(dtype, 1);
    expect((await errorOf(() => encode([utf8(list)]), "codec-error")).message).toContain("item 0");
  });

  test("items that are not whole numbers are corrupt, and so are other counts", async () => {
    const { decode } = await codec("<i4", 1);
    for (const bytes of [
      [1, 0, 0, 0, 2, 0, 0, 0, 9, 9],
      [2, 0, 0, 0, 0, 0, 0, 0],
    ])
      await errorOf(() => decode(Uint8Array.from(bytes)), "corrupt-chunk");
  });
});

describe("zep0007", () => {
  const codec = (shape: readonly number[], offset_size = 4, kind: "string" | "binary" = "string") =>
    variableCodec("zep0007", { offset_size }, kind, shape);

  /** Offsets of `width` bytes, zeros up to a multiple of 64, then the data. */
  function chunk(offsets: readonly bigint[], width: 4 | 8, data: string): Uint8Array {
    const words = width === 8 ? BigInt64Array.from(offsets) : Int32Array.from(offsets, Number);
    const start = Math.ceil(words.byteLength / 64) * 64;
    const bytes = new Uint8Array(start + utf8(data).length);
    bytes.set(new Uint8Array(words.buffer));
    bytes.set(utf8(data), start);
    return bytes;
  }

  test("the worked example", async () => {
    const { encode, decode } = await codec([4]);
    const encoded = await encode(["the", "quick", "brown", "fox"].map(utf8));
    expect(encoded).toEqual(chunk([0n, 3n, 8n, 13n, 16n], 4, "thequickbrownfox"));
    expect(encoded).toHaveLength(80);
    expect((await decode(encoded)).map(text)).toEqual(["the", "quick", "brown", "fox"]);
  });

  test.each([
    [4, 15, 16],
    [8, 7, 8],
  ])(
    "offsets of %i bytes: the data begin at multiples of 64, and any items come back",
    async (width, least, most) => {
      for (const [items, start] of [[least, 64] as const, [most, 128] as const]) {
        const { encode } = await codec([items], width);
        expect(await encode(new Array(items).fill(utf8("")))).toHaveLength(start);
      }
      await fc.assert(
        fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 40 }), async (items) => {
          const { encode, decode } = await codec([items.length], width, "binary");
          expect(await decode(await encode(items))).toEqual(items.map((item) => new Uint8Array(item)));
        }),
        { numRuns: 50 },
      );
      const strings = await codec([5], width);
      expect(await strings.decode(await strings.encode(STRINGS.map(utf8)))).toEqual(STRINGS.map(utf8));
    },
  );

  test("a first offset above 0, bytes after the last, padding that is not zero, and no data are accepted", async () => {
    const { decode } = await codec([2]);
    const bytes = chunk([1n, 2n, 4n], 4, "xabcx");
    bytes[20] = 7;
    expect((await decode(bytes)).map(text)).toEqual(["a", "bc"]);
    expect((await decode(new Uint8Array(12))).map(text)).toEqual(["", ""]);
  });

  test.each([
    ["nothing at all", new Uint8Array(0), 4, /offsets are truncated/],
    ["offsets that are cut", new Uint8Array(11), 4, /offsets are truncated/],
    ["a negative one", chunk([-1n, 0n, 1n], 4, "ab"), 4, /offset 0 is negative/],
    ["one that falls", chunk([0n, 2n, 1n], 4, "ab"), 4, /offset 2 is less/],
    ["one beyond the data", chunk([0n, 1n, 3n], 4, "ab"), 4, /offset 2 is beyond/],
    ["one that doubles would round", chunk([0n, 1n, 2n ** 62n + 2n], 8, "ab"), 8, /offset 2 is beyond/],
    ["one that a word would cut", chunk([0n, 1n, 2n ** 32n + 2n], 8, "ab"), 8, /offset 2 is beyond/],
    ["a negative one of 64 bits", chunk([0n, -(2n ** 63n), 2n], 8, "ab"), 8, /offset 1 is negative/],
    ["a character cut in two", chunk([0n, 1n, 2n], 4, "é"), 4, /item 0 is not valid UTF-8/],
  ] as const)("finds corrupt: %s", async (_, bytes, width, message) => {
    const { decode } = await codec([2], width);
    expect((await errorOf(() => decode(bytes), "corrupt-chunk")).message).toMatch(message);
  });

  test("any bytes give items or a corrupt chunk; other types and offsets are refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), fc.constantFrom(4, 8), async (bytes, width) => {
        const { decode } = await codec([3], width, "binary");
        await decode(bytes).catch((error) => expect(error.code).toBe("corrupt-chunk"));
      }),
    );
    const integers = specOf([1], { kind: "int", size: 4 });
    await errorOf(
      () => createPipeline([{ name: "zep0007", configuration: {} }], integers),
      "invalid-metadata",
    );
    await errorOf(() => codec([1], 5), "invalid-metadata");
  });
});

test("UTF-8 is what the runtime takes for it, in the stated part alone", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const isText = (bytes: Uint8Array) => {
    try {
      decoder.decode(bytes);
      return true;
    } catch {
      return false;
    }
  };
  const piece = fc.oneof(
    // `fc.string` of all code points takes a second to make
    fc.array(fc.nat(0x10ffff), { maxLength: 10 }).map((points) => [...utf8(String.fromCodePoint(...points))]),
    fc.constantFrom([0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5]),
    fc.array(fc.constantFrom(0x41, 0x7f, 0x80, 0xbf, 0xc2, 0xe1, 0xef, 0xf0, 0xf3, 0xf4), { maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), fc.nat(2), fc.nat(2), (pieces, before, after) => {
      const bytes = Uint8Array.from(pieces.flat());
      const end = Math.max(before, bytes.length - after);
      if (before > bytes.length) return;
      expect(isUtf8(bytes, before, end)).toBe(isText(bytes.subarray(before, end)));
    }),
    { numRuns: samples(2000) },
  );
});
