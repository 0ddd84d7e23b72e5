import { describe, expect, it } from "vitest";
import { parseJsonCut } from "../../src/util/json-cut.ts";
import { parseJson } from "../../src/util/json-parse.ts";
import {
  fromPlain,
  JsonNumber,
  type JsonValue,
  jsonEqual,
  pointerOf,
  pointerTo,
  toPlain,
} from "../../src/util/json-value.ts";
import { formatFloat, writeJson } from "../../src/util/json-write.ts";

const parse = (text: string): JsonValue =>
  parseJson(new TextEncoder().encode(text), { allowNonFinite: () => true });

describe("jsonEqual", () => {
  it.each([
    ["1", "1.0"],
    ["100", "1e2"],
    ["1.50", "15e-1"],
    ["100000000000000000000", "1e20"],
    ["NaN", "NaN"],
    ["-0", "-0.0"],
    ["0", "0.000"],
    ['{"a": [1, null], "b": {}}', '{"b": {}, "a": [1, null]}'],
    ['{"__proto__": 1}', '{"__proto__": 1}'],
  ])("%s is %s", (a, b) => expect(jsonEqual(parse(a), parse(b))).toBe(true));

  it.each([
    ["1", "2"],
    ["9007199254740992", "9007199254740993"],
    ["0", "-0"],
    ["1", '"1"'],
    ["1.5", '"1.5"'],
    ["null", "0"],
    ["[]", "{}"],
    ["{}", "[]"],
    ["[1]", "[1, 2]"],
    ["[1, 2]", "[2, 1]"],
    ['{"a": 1}', '{"b": 1}'],
    ['{"a": 1}', '{"a": 1, "b": 1}'],
    ['{"toString": null}', '{"a": null}'],
    ["1.0", "{}"],
    ["1e9", "NaN"],
  ])("%s is not %s", (a, b) => expect(jsonEqual(parse(a), parse(b))).toBe(false));
});

describe("toPlain", () => {
  it("gives numbers, and bigints where a number would lie", () => {
    const text =
      '{"a": [1.0, 18446744073709551615, -9007199254740993, 1e400, "x", null, true], "b": {"c": 2}}';
    expect(toPlain(parseJson(new TextEncoder().encode(text)))).toEqual({
      a: [1, 18446744073709551615n, -9007199254740993n, Number.POSITIVE_INFINITY, "x", null, true],
      b: { c: 2 },
    });
  });

  it("takes integers of very many digits as the nearest number", () => {
    expect(toPlain(new JsonNumber("9".repeat(4096)))).toBe(BigInt("9".repeat(4096)));
    expect(toPlain(new JsonNumber("9".repeat(4097)))).toBe(Number.POSITIVE_INFINITY);
  });

  it("keeps `__proto__` a name", () => {
    const plain = toPlain(parseJson(new TextEncoder().encode('{"__proto__": {"x": 1}}')));
    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype);
    expect(Object.keys(plain as object)).toEqual(["__proto__"]);
  });
});

describe("fromPlain", () => {
  it("takes plain values; bigints as exact numbers, undefined members not at all", () => {
    expect(fromPlain({ a: [1, 2n, 2n ** 64n, null], b: undefined, c: Object.create(null) })).toEqual({
      a: [1, 2, new JsonNumber("18446744073709551616"), null],
      c: {},
    });
  });

  it.each([
    [{ a: [1, () => 1] }, "/a/1"],
    [{ a: [undefined] }, "/a/0"],
    [Symbol("s"), ""],
    [{ when: new Date(0) }, "/when"],
    [{ "a/b": new Uint8Array(1) }, "/a~1b"],
  ])("refuses what JSON cannot hold, with its pointer", (value, pointer) => {
    expect(() => fromPlain(value)).toThrowError(
      expect.objectContaining({ code: "invalid-option", details: expect.objectContaining({ pointer }) }),
    );
  });

  it("ends on a cycle", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(() => fromPlain(cycle)).toThrowError(expect.objectContaining({ code: "resource-limit" }));
  });
});

it("escapes tilde and slash", () => {
  expect(pointerOf([])).toBe("");
  expect(pointerOf(["a/b", 0, "c~1", ""])).toBe("/a~1b/0/c~01/");
  expect(pointerTo("/x", 3)).toBe("/x/3");
});

const python = { indent: 4, sortNames: true, ascii: true } as const;

describe("writeJson", () => {
  it("writes what JSON.stringify writes", () => {
    const value = { b: [1, 2.5, "é\n\u2028"], a: { c: null, d: [], e: {} }, f: true };
    expect(writeJson(value)).toBe(JSON.stringify(value));
    expect(writeJson(value, { indent: 2 })).toBe(JSON.stringify(value, null, 2));
  });

  it("writes as Python's json.dumps(indent=4, sort_keys=True, ensure_ascii=True) does", () => {
    const nested = { a: [{ x: 1e20, y: 1e-7, z: 0.0001 }], "\uffff": {} };
    const value = { z: [1, []], "\u{1f600}": "\u{1f600}\u007f\u0001\t", ...nested };
    // Printed by CPython 3.11.
    expect(writeJson(value, python)).toBe(String.raw`{
    "a": [
        {
            "x": 1e+20,
            "y": 1e-07,
            "z": 0.0001
        }
    ],
    "z": [
        1,
        []
    ],
    "\uffff": {},
    "\ud83d\ude00": "\ud83d\ude00\u007f\u0001\t"
}`);
  });

  it("keeps the text of number tokens", () => {
    const text = '{"a":1.0,"b":18446744073709551615,"c":-0.0,"d":1E5}';
    expect(writeJson(parseJson(new TextEncoder().encode(text)))).toBe(text);
    expect(writeJson([new JsonNumber("1.50")])).toBe("[1.50]");
  });

  it("refuses NaN and infinities with their pointer, or writes what the caller says", () => {
    const value = { a: [1, Number.NaN, Number.NEGATIVE_INFINITY] };
    const details = { pointer: "/a/1", pointers: ["/a/1"], value: "NaN" };
    const refused = expect.objectContaining({ code: "loss-refused", details });
    expect(() => writeJson(value)).toThrow(refused);
    expect(writeJson(value, { nonFinite: "null" })).toBe('{"a":[1,null,null]}');
    expect(writeJson(value, { nonFinite: "token" })).toBe('{"a":[1,NaN,-Infinity]}');
  });

  it("writes an own `__proto__`", () => {
    const value = parseJson(new TextEncoder().encode('{"__proto__":1,"a":2}'));
    expect(writeJson(value)).toBe('{"__proto__":1,"a":2}');
  });
});

// Printed by CPython 3.11: repr(float).
describe("formatFloat", () => {
  it.each([
    [0, "0.0"],
    [-0, "-0.0"],
    [1, "1.0"],
    [42.5, "42.5"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [0.00012345, "0.00012345"],
    [1e15, "1000000000000000.0"],
    [9007199254740992, "9007199254740992.0"],
    [1e16, "1e+16"],
    [1e20, "1e+20"],
    [1.5e300, "1.5e+300"],
    [5e-324, "5e-324"],
    [-123456789012345680, "-1.2345678901234568e+17"],
    [9.969209968386869e36, "9.969209968386869e+36"],
    [0.1 + 0.2, "0.30000000000000004"],
    [Number.NaN, "NaN"],
    [Number.NEGATIVE_INFINITY, "-Infinity"],
  ])("%d", (value, text) => expect(formatFloat(value)).toBe(text));
});

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const cut = { levels: 2, isCut: ([name, inner]: readonly string[]) => name === "m" && inner !== undefined };
const nothing = { levels: 0, isCut: () => false };

function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}

describe("a document without some of its values", () => {
  it("has their text, as it stands, by their names", () => {
    const text =
      '\ufeff{"a": [1, {"m": {"x": 1}}], "m" : {"é\\n": {"b": [ 1.0 ]} , "t":NaN, "t": "ü\\u00e9"}, "z": "m"}';
    const { json, texts } = parseJsonCut(encode(text), cut);
    expect(json).toEqual({ a: [1, { m: { x: 1 } }], m: { "é\n": null, t: null }, z: "m" });
    expect([...texts].map(([name, bytes]) => [name, decode(bytes)])).toEqual([
      ["é\n", '{"b": [ 1.0 ]}'],
      ["t", '"ü\\u00e9"'],
    ]);
  });

  it("shares the bytes of its texts with the document", () => {
    const bytes = encode('{"m": {"a": {}}}');
    expect(parseJsonCut(bytes, cut).texts.get("a")?.buffer).toBe(bytes.buffer);
  });

  const tokens =
    '{} [] {"a":1} [1,2] [1,] [,] {"a"} {"a":} {a:1} 01 -1 - 1. .5 1.5 1e5 1e 1E+2 1e-02 "" "\\x" "\\u12g4" "\\u12e4" "a\tb" "a true tru nul null [[]] [[] ]] {"a":[{}]}, 1.0 -0 "é" [1 2]'.split(
      " ",
    );
  it.each([
    ["alone", (token: string) => token],
    ["between spaces", (token: string) => ` ${token} `],
    ["as a member that is cut out", (token: string) => `{"m":{"k":${token}}}`],
    ["twice in a list", (token: string) => `[${token},${token}]`],
  ])("is refused as the whole document is, or read as it is: right and wrong tokens %s", (_, textOf) => {
    for (const text of tokens.map(textOf)) {
      const whole = outcome(() => parseJson(encode(text)));
      expect(
        outcome(() => parseJsonCut(encode(text), nothing).json),
        text,
      ).toEqual(whole);
      const { texts } =
        (outcome(() => parseJsonCut(encode(text), cut)) as { texts?: ReadonlyMap<string, Uint8Array> }) ?? {};
      expect(texts === undefined, text).toBe(typeof whole === "string" && whole.startsWith("ZarrflowError"));
      const value = texts?.get("k");
      if (value) expect({ m: { k: parseJson(value) } }, text).toEqual(whole);
    }
  });

  it("is refused where what is cut out is nested too deep, or is no JSON", () => {
    const deep = `{"m": {"a": ${"[".repeat(2000)}${"]".repeat(2000)}}}`;
    expect(() => parseJsonCut(encode(deep), cut)).toThrow(
      expect.objectContaining({ code: "resource-limit" }),
    );
    const broken = '{"m":\n {"a": {"b": tru}}}';
    expect(() => parseJsonCut(encode(broken), cut)).toThrow("not valid JSON at line 2, column 14");
  });
});
