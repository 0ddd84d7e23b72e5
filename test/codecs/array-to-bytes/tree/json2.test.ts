import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../../src/codecs/chain/pipeline.ts";
import type { CodecConfig } from "../../../../src/meta/array-metadata.ts";
import type { DataType, FixedDataType } from "../../../../src/meta/data-type.ts";
import { cStrides, product } from "../../../../src/util/shape.ts";
import { errorOf, expectSame, GuardedBuffers, specOf } from "../../support.ts";
import { text, utf8, variableCodec } from "../variable-codec.ts";

const OBJECT: DataType = { kind: "object" };
const codec = (shape: readonly number[], configuration = {}) =>
  variableCodec("json2", configuration, OBJECT, shape);

describe("objects", () => {
  test("are stored as numcodecs does", async () => {
    const { encode } = await codec([3]);
    const items = ['{"b":[1,2],"a":1.0}', '[1,"é",null]', '"plain"'].map(utf8);
    expect(text(await encode(items))).toBe('[{"a":1.0,"b":[1,2]},[1,"\\u00e9",null],"plain","|O",[3]]');
  });

  test("are nested by their shape", async () => {
    const { encode, decode } = await codec([2, 3]);
    const items = ["1", "2", "3", "4", "[5]", "6"].map(utf8);
    const encoded = await encode(items);
    expect(text(encoded)).toBe('[[1,2,3],[4,[5],6],"|O",[2,3]]');
    expect((await decode(encoded)).map(text)).toEqual(items.map(text));
  });

  test("of a scalar array stand alone", async () => {
    const { encode, decode } = await codec([]);
    const encoded = await encode([utf8("[7]")]);
    expect(text(encoded)).toBe('[[7],"|O",[]]');
    expect((await decode(encoded)).map(text)).toEqual(["[7]"]);
  });

  test("keep every digit, and numbers that are not finite", async () => {
    const { decode } = await codec([4]);
    const items = ["18446744073709551615", "1.0", "[NaN,-Infinity]", "0.1e3"];
    expect((await decode(utf8(`[${items.join()},"|O",[4]]`))).map(text)).toEqual(items);
  });

  test("of no text are null", async () => {
    const { encode } = await codec([1]);
    expect(text(await encode([utf8("")]))).toBe('[null,"|O",[1]]');
  });

  test("give back any JSON", () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.json(), { minLength: 1, maxLength: 6 }), async (texts) => {
        const { encode, decode } = await codec([texts.length], { sort_keys: false });
        const items = await decode(await encode(texts.map(utf8)));
        expect(items.map((item) => JSON.parse(text(item)))).toEqual(texts.map((one) => JSON.parse(one)));
      }),
      { numRuns: 60 },
    ));

  test("the options of json2 are obeyed, or refused", async () => {
    const item = [utf8('{"b":"é","a":1}')];
    expect(text(await (await codec([1], { ensure_ascii: false, sort_keys: false })).encode(item))).toBe(
      '[{"b":"é","a":1},"|O",[1]]',
    );
    const strict = await codec([1], { allow_nan: false });
    await errorOf(() => strict.encode([utf8("NaN")]));
    await errorOf(() => codec([1], { encoding: "utf-16" }), "unsupported-codec");
  });
});

describe("numbers and texts", () => {
  const types: readonly (readonly [FixedDataType, Uint8Array, string])[] = [
    [{ kind: "bool", size: 1 }, Uint8Array.of(1, 0), '[true,false,"|b1",[2]]'],
    [{ kind: "int", size: 2 }, new Uint8Array(Int16Array.of(-5, 7).buffer), '[-5,7,"<i2",[2]]'],
    [
      { kind: "uint", size: 8 },
      new Uint8Array(BigUint64Array.of(2n ** 64n - 1n, 1n).buffer),
      '[18446744073709551615,1,"<u8",[2]]',
    ],
    [
      { kind: "float", size: 8 },
      new Uint8Array(Float64Array.of(3, Number.NaN).buffer),
      '[3.0,NaN,"<f8",[2]]',
    ],
    [
      { kind: "fixed-text", size: 8 },
      new Uint8Array(Uint32Array.of(0xe9, 0, 97, 98).buffer),
      '["\\u00e9","ab","<U2",[2]]',
    ],
  ];

  test.each(types)("%j", async (dataType, bytes, json) => {
    for (const endian of ["little", "big"]) {
      const buffers = new GuardedBuffers();
      const spec = specOf([2], dataType);
      const configs: CodecConfig[] = [
        { name: "bytes", configuration: { endian } },
        { name: "json2", configuration: {} },
      ];
      const pipeline = await createPipeline(configs, spec);
      const data = {
        kind: "fixed",
        bytes: buffers.copyOf(bytes),
        itemSize: dataType.size,
        shape: [2],
        strides: cStrides([2]),
      } as const;
      const encoded = await pipeline.encode(data, buffers);
      const order = endian === "big" ? json.replace('"<', '">') : json;
      expect(text(encoded)).toBe(order);
      expect(encoded.length).toBeLessThanOrEqual(pipeline.maxEncodedSize);
      const decoded = await pipeline.decode(encoded, buffers);
      expectSame(decoded.bytes, bytes);
      buffers.give(decoded.bytes);
      expect(buffers.live).toBe(0);
    }
  });

  test("that JSON has no form for are refused", async () => {
    const configs: CodecConfig[] = [
      { name: "bytes", configuration: { endian: "little" } },
      { name: "json2", configuration: {} },
    ];
    await errorOf(
      () => createPipeline(configs, specOf([2], { kind: "complex", size: 8 })),
      "unsupported-codec",
    );
  });
});

describe("what is corrupt", () => {
  test.each([
    ["no JSON", "[1,2"],
    ["no list", "7"],
    ["a list without a shape", "[1]"],
    ["a shape that is none", '[1,2,"|O",[-2]]'],
    ["a fraction of items", '[1,2,"|O",[2.5]]'],
    ["fewer items than stated", '[1,"|O",[2]]'],
    ["more items than stated", '[1,2,3,"|O",[2]]'],
    ["another number than the chunk has", '[1,2,3,"|O",[3]]'],
    ["items that are not nested as stated", '[1,2,"|O",[2,1]]'],
    ["text that is no UTF-8", "[\xff]"],
  ])("%s", async (_, json) => {
    const { decode } = await codec([2]);
    await errorOf(() => decode(Uint8Array.from(json, (letter) => letter.charCodeAt(0))), "corrupt-chunk");
  });

  test("a bomb of brackets", async () => {
    const { decode } = await codec([1]);
    await errorOf(() => decode(utf8("[".repeat(100_000))), "resource-limit");
  });

  test("a shape that says more than there is", async () => {
    const shape = [2 ** 30, 2 ** 30];
    expect(product(shape)).toBeGreaterThan(2 ** 53);
    await errorOf(async () => (await codec([1])).decode(utf8(`[1,"|O",[${shape}]]`)), "corrupt-chunk");
  });
});
