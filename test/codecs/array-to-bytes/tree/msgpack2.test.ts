import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMsgpack } from "../../../../src/codecs/array-to-bytes/tree/msgpack/read.ts";
import { writeMsgpack } from "../../../../src/codecs/array-to-bytes/tree/msgpack/write.ts";
import type { DataType } from "../../../../src/meta/data-type.ts";
import { parseJson } from "../../../../src/util/json-parse.ts";
import { writeJson } from "../../../../src/util/json-write.ts";
import { errorOf } from "../../support.ts";
import { text, utf8, variableCodec } from "../variable-codec.ts";

const OBJECT: DataType = { kind: "object" };
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const USUAL = { hasShortTexts: true, hasSingleFloats: false };
const written = (json: string, options = USUAL) => hex(writeMsgpack(parseJson(utf8(json)), options));
const read = (bytes: string) => writeJson(readMsgpack(Buffer.from(bytes, "hex")), { nonFinite: "token" });

/** Values and their bytes, as the specification of MessagePack has them. */
const VALUES = [
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
] as const;

describe("single values", () => {
  test.each(VALUES)("%s is %s", (json, bytes) => {
    expect(written(json)).toBe(bytes);
    expect(read(bytes)).toBe(json);
  });

  test.each([
    [31, "bf"],
    [32, "d920"],
    [255, "d9ff"],
    [256, "da0100"],
    [65_536, "db00010000"],
  ])("a text of %i bytes begins with %s", (length, header) => {
    const bytes = written(JSON.stringify("x".repeat(length)));
    expect(bytes.startsWith(header)).toBe(true);
    expect(read(bytes)).toHaveLength(length + 2);
  });

  test("floats of 4 bytes are refused where they would become infinite", async () => {
    const single = { ...USUAL, hasSingleFloats: true };
    expect(written("[0.5,1.0,1e38]", single)).toBe("93ca3f000000ca3f800000ca7e967699");
    await errorOf(() => written("1e39", single), "codec-error");
  });

  test("older texts have no form of one byte", () => {
    expect(written(JSON.stringify("x".repeat(40)), { ...USUAL, hasShortTexts: false })).toMatch(/^da0028/);
  });

  test.each([
    [15, "9f"],
    [16, "dc0010"],
    [65_536, "dd00010000"],
  ])("a list of %i begins with %s", (length, header) => {
    const bytes = written(JSON.stringify(new Array(length).fill(0)));
    expect(bytes.startsWith(header)).toBe(true);
    expect(JSON.parse(read(bytes))).toHaveLength(length);
  });

  test("a map of 16 has a longer header, and names are own members", () => {
    const object = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`n${i}`, i]));
    expect(written(JSON.stringify(object))).toMatch(/^de0010/);
    expect(read("81a95f5f70726f746f5f5f01")).toBe('{"__proto__":1}');
  });

  test("floats of four bytes", () => {
    expect(written("0.5", { ...USUAL, hasSingleFloats: true })).toBe("ca3f000000");
    expect(read("ca3f800000")).toBe("1.0");
    expect(read("cb7ff8000000000000")).toBe("NaN");
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
});

describe("chunks", () => {
  test("are a list with type and shape, as numcodecs has them", async () => {
    const { encode, decode } = await variableCodec("msgpack2", {}, OBJECT, [2, 2]);
    const items = ["1", '"x"', "null", "[1]"].map(utf8);
    const encoded = await encode(items);
    expect(hex(encoded)).toBe("94" + "9201a178" + "92c09101" + "a27c4f" + "920202");
    expect((await decode(encoded)).map(text)).toEqual(items.map(text));
  });
});

describe("bytes", () => {
  test.each([
    ["", "c400"],
    ["0102", "c4020102"],
    ["ff".repeat(255), `c4ff${"ff".repeat(255)}`],
    ["00".repeat(256), `c50100${"00".repeat(256)}`],
    ["07".repeat(65_536), `c600010000${"07".repeat(65_536)}`],
  ])("are an object with their Base64, and come back", (bytes, packed) => {
    const json = JSON.stringify({ $binary: Buffer.from(bytes, "hex").toString("base64") });
    expect(read(packed)).toBe(json);
    expect(written(json)).toBe(packed);
  });

  test("are items of a chunk", async () => {
    const { encode, decode } = await variableCodec("msgpack2", {}, OBJECT, [2]);
    const chunk = Buffer.from("94" + "c4020102" + "c0" + "a27c4f" + "9102", "hex");
    const items = (await decode(chunk)).map(text);
    expect(items).toEqual(['{"$binary":"AQI="}', "null"]);
    expect(hex(await encode(items.map(utf8)))).toBe(chunk.toString("hex"));
  });
});

describe("what JSON has no form for", () => {
  test.each([
    ["a map that looks like bytes", "81a724" + "62696e617279" + "a4415145" + "3d"],
    ["an extension", "d40101"],
    ["a time", "d6ff00000000"],
    ["a name that is a number", "810101"],
  ])("%s is refused in words", async (_, bytes) => {
    const error = await errorOf(() => read(bytes), "codec-error");
    expect(error.details.hint).toContain("JSON");
  });

  test("and what MessagePack has none for", async () => {
    await errorOf(() => written("18446744073709551616"), "codec-error");
    await errorOf(() => written('"\\ud800"'), "codec-error");
  });
});

describe("hostile bytes", () => {
  test.each([
    ["nothing", ""],
    ["no value", "c1"],
    ["a value that is cut", "cf0102"],
    ["a text that is cut", "a5616263"],
    ["a text that is no UTF-8", "a2c328"],
    ["a list that says more than there is", "ddffffffff01"],
    ["a map that says more than there is", "dfffffffff01"],
    ["more than a value", "0101"],
  ])("%s", async (_, bytes) => {
    await errorOf(() => read(bytes), "corrupt-chunk");
  });

  test("lists in lists that are nested too deep are refused", async () => {
    await errorOf(() => readMsgpack(new Uint8Array(1_000_000).fill(0x91)), "resource-limit");
  });

  test("any bytes are a value or an error of ours", () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
        const codec = await variableCodec("msgpack2", {}, OBJECT, [2]);
        await codec
          .decode(bytes)
          .catch((error) => expect(["corrupt-chunk", "codec-error"]).toContain(error.code));
      }),
    ));
});
