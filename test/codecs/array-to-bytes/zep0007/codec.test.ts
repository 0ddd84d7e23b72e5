import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DataType } from "../../../../src/meta/data-type.ts";
import { errorOf } from "../../support.ts";
import { text, utf8, variableCodec } from "../variable-codec.ts";

const STRING: DataType = { kind: "string" };
const BINARY: DataType = { kind: "binary" };
const codec = (shape: readonly number[], width = 4, dataType: DataType = STRING) =>
  variableCodec("zep0007", { offset_size: width }, dataType, shape);

/** Offsets of `width` bytes, zeros up to a multiple of 64, then the data. */
function chunk(offsets: readonly bigint[], width: 4 | 8, data: Uint8Array): Uint8Array {
  const start = Math.ceil((offsets.length * width) / 64) * 64;
  const bytes = new Uint8Array(start + data.length);
  const words = new DataView(bytes.buffer);
  offsets.forEach((offset, i) => {
    if (width === 8) words.setBigInt64(i * 8, offset, true);
    else words.setInt32(i * 4, Number(offset), true);
  });
  bytes.set(data, start);
  return bytes;
}

test("the worked example", async () => {
  const { encode, decode } = await codec([4]);
  const encoded = await encode(["the", "quick", "brown", "fox"].map(utf8));
  expect(encoded).toEqual(chunk([0n, 3n, 8n, 13n, 16n], 4, utf8("thequickbrownfox")));
  expect(encoded).toHaveLength(80);
  expect((await decode(encoded)).map(text)).toEqual(["the", "quick", "brown", "fox"]);
});

test.each([
  [15, 4, 64],
  [16, 4, 128],
  [7, 8, 64],
  [8, 8, 128],
])("%i items of offsets of %i bytes begin at %i", async (items, width, start) => {
  const { encode } = await codec([items], width);
  expect(await encode(new Array(items).fill(utf8("")))).toHaveLength(start);
});

describe.each([4, 8])("offsets of %i bytes", (width) => {
  test("give back any items", () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 40 }), async (items) => {
        const { encode, decode } = await codec([items.length], width, BINARY);
        expect(await decode(await encode(items))).toEqual(items.map((item) => new Uint8Array(item)));
      }),
      { numRuns: 50 },
    ));

  test("give back strings, byte order marks and zeros too", async () => {
    const strings = ["", "\ufeffx", "\0", "😀", "é"];
    const { encode, decode } = await codec([5], width);
    const items = await decode(await encode(strings.map(utf8)));
    expect(items.map((item) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(item))).toEqual(strings);
  });
});

describe("what is accepted", () => {
  test("a first offset above 0, bytes after the last, padding that is not zero", async () => {
    const { decode } = await codec([2]);
    const bytes = chunk([1n, 2n, 4n], 4, utf8("xabcx"));
    bytes[20] = 7;
    expect((await decode(bytes)).map(text)).toEqual(["a", "bc"]);
  });

  test("a value that ends before its data would begin, when there are none", async () => {
    const { decode } = await codec([2]);
    expect((await decode(new Uint8Array(12))).map(text)).toEqual(["", ""]);
  });
});

describe("what is corrupt", () => {
  test.each([
    ["nothing at all", new Uint8Array(0), 4, /offsets are cut off/],
    ["offsets that are cut", new Uint8Array(11), 4, /offsets are cut off/],
    ["a negative one", chunk([-1n, 0n, 1n], 4, utf8("ab")), 4, /offset 0 is negative/],
    ["one that falls", chunk([0n, 2n, 1n], 4, utf8("ab")), 4, /offset 2 is less/],
    ["one beyond the data", chunk([0n, 1n, 3n], 4, utf8("ab")), 4, /offset 2 is beyond/],
    ["one that doubles would round", chunk([0n, 1n, 2n ** 62n + 2n], 8, utf8("ab")), 8, /offset 2 is beyond/],
    ["one that a word would cut", chunk([0n, 1n, 2n ** 32n + 2n], 8, utf8("ab")), 8, /offset 2 is beyond/],
    ["a negative one of 64 bits", chunk([0n, -(2n ** 63n), 2n], 8, utf8("ab")), 8, /offset 1 is negative/],
    ["a character cut in two", chunk([0n, 1n, 2n], 4, utf8("é")), 4, /item 0 is not valid UTF-8/],
  ] as const)("%s", async (_, bytes, width, message) => {
    const { decode } = await codec([2], width);
    expect((await errorOf(() => decode(bytes), "corrupt-chunk")).message).toMatch(message);
  });

  test("any bytes give items or a corrupt chunk", () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), fc.constantFrom(4, 8), async (bytes, width) => {
        const { decode } = await codec([3], width, BINARY);
        await decode(bytes).catch((error) => expect(error.code).toBe("corrupt-chunk"));
      }),
    ));
});

test("other types and offsets are refused", async () => {
  await errorOf(() => codec([1], 4, { kind: "int", size: 4 }), "invalid-metadata");
  await errorOf(() => codec([1], 5), "invalid-metadata");
});
