import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMsgpack, writeMsgpack } from "../../../src/codecs/items/msgpack.ts";
import type { FixedDataType } from "../../../src/meta/data-type.ts";
import { parseJson } from "../../../src/util/json-parse.ts";
import { writeJson } from "../../../src/util/json-write.ts";
import { bytesOf, errorOf, expectSame, fixedCodec, text, utf8, variableCodec } from "../support.ts";

describe("json2", () => {
  const codec = (shape: readonly number[], configuration = {}) =>
    variableCodec("json2", configuration, "object", shape);

  test.each([
    [
      [3],
      ['{"b":[1,2],"a":1.0}', '[1,"é",null]', '"plain"'],
      '[{"a":1.0,"b":[1,2]},[1,"\\u00e9",null],"plain","|O",[3]]',
    ],
    [[2, 3], ["1", "2", "3", "4", "[5]", "6"], '[[1,2,3],[4,[5],6],"|O",[2,3]]'],
    [[], ["[7]"], '[[7],"|O",[]]'],
    [[1], [""], '[null,"|O",[1]]'],
  ])("stores objects of shape %j as numcodecs does", async (shape, items, json) => {
    const { encode, decode } = await codec(shape);
    expect(text(await encode(items.map(utf8)))).toBe(json);
    const values = items.map((item) => JSON.parse(item || "null"));
    expect((await decode(utf8(json))).map((item) => JSON.parse(text(item)))).toEqual(values);
  });

  test("keeps every digit, and numbers that are not finite", async () => {
    const items = ["18446744073709551615", "1.0", "[NaN,-Infinity]", "0.1e3"];
    const decoded = await (await codec([4])).decode(utf8(`[${items.join()},"|O",[4]]`));
    expect(decoded.map(text)).toEqual(items);
  });

  test("gives back any JSON", () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.json(), { minLength: 1, maxLength: 6 }), async (texts) => {
        const { encode, decode } = await codec([texts.length], { sort_keys: false });
        const items = await decode(await encode(texts.map(utf8)));
        expect(items.map((item) => JSON.parse(text(item)))).toEqual(texts.map((one) => JSON.parse(one)));
      }),
      { numRuns: 60 },
    ));

  test("obeys its options, or refuses them", async () => {
    const { encode } = await codec([1], { ensure_ascii: false, sort_keys: false });
    expect(text(await encode([utf8('{"b":"é","a":1}')]))).toBe('[{"b":"é","a":1},"|O",[1]]');
    const strict = await codec([1], { allow_nan: false });
    await errorOf(() => strict.encode([utf8("NaN")]), "loss-refused");
    await errorOf(() => codec([1], { encoding: "utf-16" }), "unsupported-codec");
  });

  test.each<[FixedDataType, ArrayBufferView, string]>([
    [{ kind: "bool", size: 1 }, Uint8Array.of(1, 0), '[true,false,"|b1",[2]]'],
    [{ kind: "int", size: 2 }, Int16Array.of(-5, 7), '[-5,7,"<i2",[2]]'],
    [{ kind: "uint", size: 8 }, BigUint64Array.of(2n ** 64n - 1n, 1n), '[18446744073709551615,1,"<u8",[2]]'],
    [{ kind: "float", size: 8 }, Float64Array.of(3, Number.NaN), '[3.0,NaN,"<f8",[2]]'],
    [{ kind: "fixed-text", size: 8 }, Uint32Array.of(0xe9, 0, 97, 98), '["\\u00e9","ab","<U2",[2]]'],
  ])("stores numbers and texts: %j", async (dataType, items, json) => {
    for (const endian of ["little", "big"]) {
      const configs = [
        { name: "bytes", configuration: { endian } },
        { name: "json2", configuration: {} as never },
      ];
      const { encode, decode } = await fixedCodec(configs, dataType, 2);
      const encoded = await encode(bytesOf(items));
      expect(text(encoded)).toBe(endian === "big" ? json.replace('"<', '">') : json);
      expectSame(await decode(encoded), bytesOf(items));
      const complex = fixedCodec(configs, { kind: "complex", size: 8 }, 2);
      await expect(complex).rejects.toMatchObject({ code: "unsupported-codec" });
    }
  });

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
    ["a shape that says more than there is", '[1,"|O",[1073741824,1073741824]]'],
  ])("finds corrupt: %s", async (_, json) => {
    const { decode } = await codec([2]);
    await errorOf(() => decode(Uint8Array.from(json, (letter) => letter.charCodeAt(0))), "corrupt-chunk");
    await errorOf(() => decode(utf8("[".repeat(100_000))), "resource-limit");
  });
});

describe("msgpack2", () => {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  const USUAL = { hasShortTexts: true, hasSingleFloats: false };
  const SINGLE = { ...USUAL, hasSingleFloats: true };
  const written = (json: string, options = USUAL) => hex(writeMsgpack(parseJson(utf8(json)), options));
  const read = (bytes: string) => writeJson(readMsgpack(Buffer.from(bytes, "hex")), { nonFinite: "token" });
  const binary = (bytes: string) => JSON.stringify({ $binary: Buffer.from(bytes, "hex").toString("base64") });

  // As the specification of MessagePack has them.
  test.each([
    ["null", "c0"],
    ["true", "c3"],
    ["false", "c2"],
    ["127", "7f"],
    ["128", "cc80"],
    ["256", "cd0100"],
    ["65536", "ce00010000"],
    ["4294967296", "cf0000000100000000"],
    ["18446744073709551615", "cfffffffffffffffff"],
    ["-1", "ff"],
    ["-32", "e0"],
    ["-33", "d0df"],
    ["-129", "d1ff7f"],
    ["-32769", "d2ffff7fff"],
    ["-2147483649", "d3ffffffff7fffffff"],
    ["-9223372036854775808", "d38000000000000000"],
    ["1.0", "cb3ff0000000000000"],
    ["2.5", "cb4004000000000000"],
    ['"é"', "a2c3a9"],
    ["[1,[2]]", "92019102"],
    ['{"a":1}', "81a16101"],
    [binary(""), "c400"],
    [binary("0102"), "c4020102"],
  ])("%s is %s", (json, bytes) => {
    expect(written(json)).toBe(bytes);
    expect(read(bytes)).toBe(json);
  });

  test.each([
    ["a text of 31 bytes", JSON.stringify("x".repeat(31)), "bf"],
    ["a text of 32 bytes", JSON.stringify("x".repeat(32)), "d920"],
    ["a text of 255 bytes", JSON.stringify("x".repeat(255)), "d9ff"],
    ["a text of 256 bytes", JSON.stringify("x".repeat(256)), "da0100"],
    ["a text of 64 KiB", JSON.stringify("x".repeat(65_536)), "db00010000"],
    ["a list of 15", JSON.stringify(new Array(15).fill(0)), "9f"],
    ["a list of 16", JSON.stringify(new Array(16).fill(0)), "dc0010"],
    ["a list of 65536", JSON.stringify(new Array(65_536).fill(0)), "dd00010000"],
    ["a map of 16", JSON.stringify({ ...new Array(16).fill(0) }), "de0010"],
    ["255 bytes", binary("ff".repeat(255)), "c4ff"],
    ["256 bytes", binary("00".repeat(256)), "c50100"],
    ["64 KiB", binary("07".repeat(65_536)), "c600010000"],
  ])("%s comes back, and begins as stated", (_, json, header) => {
    const bytes = written(json);
    expect(bytes.slice(0, header.length)).toBe(header);
    expect(read(bytes) === json).toBe(true);
  });

  test("floats of 4 bytes, older texts without a form of one byte, and names that all objects have", async () => {
    expect(written("[0.5,1.0,1e38]", SINGLE)).toBe("93ca3f000000ca3f800000ca7e967699");
    await errorOf(() => written("1e39", SINGLE), "codec-error");
    expect([read("ca3f800000"), read("cb7ff8000000000000")]).toEqual(["1.0", "NaN"]);
    const older = written(JSON.stringify("x".repeat(40)), { ...USUAL, hasShortTexts: false });
    expect(older).toMatch(/^da0028/);
    expect(read("81a95f5f70726f746f5f5f01")).toBe('{"__proto__":1}');
  });

  test("any JSON comes back", () =>
    fc.assert(
      fc.property(fc.json(), (json) => {
        // Integers beyond 64 bits are refused.
        fc.pre(!/[0-9]{19}/.test(json));
        const value = parseJson(utf8(json));
        expect(writeJson(readMsgpack(writeMsgpack(value, USUAL)))).toBe(writeJson(value));
      }),
    ));

  test.each([
    [[2, 2], ["1", '"x"', "null", "[1]"], "94" + "9201a178" + "92c09101" + "a27c4f" + "920202"],
    [[2], ['{"$binary":"AQI="}', "null"], "94" + "c4020102" + "c0" + "a27c4f" + "9102"],
  ])(
    "chunks of shape %j are a list with type and shape, as numcodecs has them",
    async (shape, items, bytes) => {
      const { encode, decode } = await variableCodec("msgpack2", {}, "object", shape);
      expect(hex(await encode(items.map(utf8)))).toBe(bytes);
      expect((await decode(Buffer.from(bytes, "hex"))).map(text)).toEqual(items);
    },
  );

  test.each([
    ["a map that looks like bytes", "81a724" + "62696e617279" + "a4415145" + "3d"],
    ["an extension", "d40101"],
    ["a time", "d6ff00000000"],
    ["a name that is a number", "810101"],
  ])("what JSON has no form for is refused in words: %s", async (_, bytes) => {
    const error = await errorOf(() => read(bytes), "codec-error");
    expect(error.details.hint).toContain("JSON");
  });

  test.each([
    ["nothing", ""],
    ["no value", "c1"],
    ["a value that is cut", "cf0102"],
    ["a text that is cut", "a5616263"],
    ["a text that is no UTF-8", "a2c328"],
    ["a list that says more than there is", "ddffffffff01"],
    ["a map that says more than there is", "dfffffffff01"],
    ["more than a value", "0101"],
  ])("finds corrupt: %s", async (_, bytes) => {
    await errorOf(() => read(bytes), "corrupt-chunk");
  });

  test("what MessagePack has no form for, and lists that are nested too deep are refused", async () => {
    await errorOf(() => written("18446744073709551616"), "codec-error");
    await errorOf(() => written('"\\ud800"'), "codec-error");
    await errorOf(() => readMsgpack(new Uint8Array(1_000_000).fill(0x91)), "resource-limit");
  });

  test("any bytes are a value or an error of ours", () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
        const { decode } = await variableCodec("msgpack2", {}, "object", [2]);
        await decode(bytes).catch((error) => expect(["corrupt-chunk", "codec-error"]).toContain(error.code));
      }),
    ));
});
