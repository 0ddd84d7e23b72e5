// @module-tag slow
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isZarrflowError, type ZarrflowError } from "../../src/util/errors.ts";
import { type ParseJsonOptions, parseJson } from "../../src/util/json-parse.ts";
import { JsonNumber, type JsonValue, pointerOf } from "../../src/util/json-value.ts";

const encoder = new TextEncoder();
const parse = (text: string, options?: ParseJsonOptions): JsonValue =>
  parseJson(encoder.encode(text), options);

function failure(text: string | Uint8Array, options?: ParseJsonOptions): ZarrflowError {
  try {
    parseJson(typeof text === "string" ? encoder.encode(text) : text, options);
  } catch (error) {
    if (isZarrflowError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("parseJson", () => {
  it("reads what JSON.parse reads", () => {
    const text =
      ' {"a": [1, -2.5, 1e-7, true, false, null, "x\\n\\u00e9\\/\\"\\\\"], "b": {}, "": [ ] }\r\n\t';
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  const LARGE = ["18446744073709551615", "9007199254740992", "9007199254740993", "100000000000000000000"];
  it.each([...LARGE, "1.0", "-0", "-0.0", "1E5", "1.5e3", "1e+20", "0.10", "1e400", "0.0000001"])(
    "keeps the text of %s, which a number would change, or print otherwise",
    (token) => expect(parse(token)).toEqual(new JsonNumber(token)),
  );

  it("reads all other numbers as JavaScript does", () => {
    const tokens = "0.1 -0.5 0 7 -12.25 123456789.123456 0.000001 999999999999999 9007199254740991 1e+300";
    for (const token of tokens.split(" ")) expect(parse(`[${token}]`), token).toEqual([Number(token)]);
    fc.assert(
      fc.property(
        fc.integer({ min: -1e9, max: 1e9 }),
        fc.integer({ min: 0, max: 14 }),
        (digits, decimals) => {
          const number = digits / 10 ** decimals;
          expect(parse(number.toString())).toEqual(number);
        },
      ),
    );
  });

  it("takes a byte order mark, and surrogate halves in escapes", () => {
    expect(parse("\ufeff[1]")).toEqual([1]);
    expect(parse('"\\ud83d\\ude00 \\ud800"')).toBe("\u{1f600} \ud800");
  });

  it("lets the last of equal names win", () => {
    expect(parse('{"a": 1, "b": 2, "a": 3}')).toEqual({ a: 3, b: 2 });
  });

  it("takes `__proto__` and its like as names like any other", () => {
    const value = parse(
      '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
    );
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(["__proto__", "constructor"]);
    expect((value as { polluted?: unknown }).polluted).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    ["", "a value", "the end of the document", 1, 1],
    ["{", "a name in double quotes", "the end of the document", 1, 2],
    ['{\n  "a": 1,\n}', "a name in double quotes", "`}`", 3, 1],
    ["[1, 2,]", "a value", "`]`", 1, 7],
    ["[1 2]", "`,` or `]`", "`2]`", 1, 4],
    ['{"a" 1}', "`:`", "`1}`", 1, 6],
    ["[1] x", "the end of the document", "`x`", 1, 5],
    ["[01]", "`,` or `]`", "`1]`", 1, 3],
    ["[.5]", "a value", "`.5]`", 1, 2],
    ["[+1]", "a value", "`+1]`", 1, 2],
    ["[1.]", "`,` or `]`", "`.]`", 1, 3],
    ["tru", "`true`", "`tru`", 1, 1],
    ['"a\nb"', 'the closing `"`', '`\nb"`', 1, 3],
    ['"a', 'the closing `"`', "the end of the document", 1, 3],
    ['"\\x"', "an escape such as `\\n` or `\\u00e9`", '`x"`', 1, 3],
    ['"\\u12g4"', "four hexadecimal digits", '`12g4"`', 1, 4],
    ["// no\n1", "a value", "`// no\n1`", 1, 1],
    ["NaN", "a value", "`NaN`", 1, 1],
  ])("refuses %j and says where and why", (text, expected, found, line, column) => {
    const error = failure(text);
    expect(error.code).toBe("invalid-metadata");
    expect(error.reason).toBe(`not valid JSON at line ${line}, column ${column}`);
    expect(error.details).toMatchObject({ expected, found });
  });

  it("names the place by pointer", () => {
    expect(failure('{"a/b": [1, {"c~": x}]}').details.pointer).toBe("/a~1b/1/c~0");
  });

  it("refuses what is not UTF-8", () => {
    expect(failure(Uint8Array.of(0x22, 0xff, 0x22)).code).toBe("invalid-metadata");
    expect(failure(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)).code).toBe("invalid-metadata");
  });

  it("takes bare NaN and infinities where the caller says so, and nowhere else", () => {
    const seen: string[] = [];
    const options: ParseJsonOptions = {
      allowNonFinite: (path) => {
        seen.push(pointerOf(path));
        return path[0] === "fill_value";
      },
    };
    expect(parse('{"fill_value": [NaN, Infinity, -Infinity]}', options)).toEqual({
      fill_value: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    });
    expect(seen).toEqual(["/fill_value/0", "/fill_value/1", "/fill_value/2"]);
    expect(failure('{"shape": [NaN]}', options).details.pointer).toBe("/shape/0");
  });

  it("bounds depth and size without overflowing the stack", () => {
    expect(parse("[".repeat(1000) + "]".repeat(1000))).toHaveLength(1);
    expect(failure("[".repeat(48_000) + "]".repeat(48_000)).code).toBe("resource-limit");
    expect(failure('{"a":'.repeat(48_000)).code).toBe("resource-limit");
    expect(failure("[1, 2, 3]", { maxBytes: 8 }).code).toBe("resource-limit");
    expect(failure("[[1]]", { maxDepth: 1 }).code).toBe("resource-limit");
  });

  it.each([
    ["tiny lists", "[]", 4e5],
    ["lists of one item", "[[[[0]]]]", 1e5],
    ["tiny objects", "{}", 4e5],
    ["digits", "0", 2e6],
    ["numbers kept as text", "1.0", 2e6],
  ])(
    "refuses a large document of nothing but %s, whose values take many times its bytes",
    (_, item, count) => {
      expect(failure(`[${`${item},`.repeat(count)}${item}]`)).toMatchObject({
        code: "resource-limit",
        reason: "the parsed JSON document takes too much memory",
      });
    },
  );

  it("refuses a large document of objects without a name in common", () => {
    const objects = Array.from({ length: 5e4 }, (_, i) => `{"a${i}":1}`);
    expect(failure(`[${objects.join()}]`).code).toBe("resource-limit");
  });

  it("reads long lists whole, of numbers and of what comes after them", () => {
    const numbers = Array.from({ length: 30_000 }, (_, i) => i / 8);
    const all = [...numbers, "x", null, ...numbers.slice(0, 14_000)];
    expect(parse(JSON.stringify(all))).toEqual(all);
    expect(parse(JSON.stringify(numbers))).toEqual(numbers);
  });

  describe("of which one window is text at a time", () => {
    const WINDOW = 2 ** 18;

    /** Documents in which a token lies across the end of the first window, whichever of its bytes that falls on. */
    it.each([
      ["a string", '"caf\u00e9 \ud83d\ude00 \\u00e9\\n\\\\ end"'],
      ["a number", "123456.25"],
      ["a word", "false"],
      ["a name", '{"na\u00efve": [null]}'],
      ["space", " \n\t\r  {}  "],
      ["a byte order mark in a string", '"\ufeff\ufeff\ufeff"'],
    ])("reads %s across its end", (_, item) => {
      const size = encoder.encode(item).length;
      for (let before = WINDOW - size - 70; before < WINDOW + 4; before += 3) {
        const text = `["${"x".repeat(before)}",${item},[1]]`;
        expect(parse(text), `${before}`).toEqual(["x".repeat(before), JSON.parse(item), [1]]);
      }
    });

    it("reads strings of several windows", () => {
      const text = '\u00e9\ud83d\ude00"\\\n'.repeat(WINDOW / 4);
      expect(parse(JSON.stringify([1, text, { [text]: 2 }]))).toEqual([1, text, { [text]: 2 }]);
    });

    it.each(["x", "\u00e9", "\u20ac", "\ud83d\ude00"])(
      "reads a string of several windows of %s alone",
      (character) => {
        const text = character.repeat(3 * WINDOW);
        expect(parse(JSON.stringify({ a: text }))).toEqual({ a: text });
      },
    );

    it("reads a number across its end that is kept as its text", () => {
      const token = `0.${"10".repeat(200)}`;
      for (let before = WINDOW - 420; before < WINDOW; before += 7)
        expect(parse(`["${"x".repeat(before)}",${token}]`)).toEqual([
          "x".repeat(before),
          new JsonNumber(token),
        ]);
    });

    it("reads space of several windows", () => {
      expect(parse(`[1,${" ".repeat(3 * WINDOW)}2]`)).toEqual([1, 2]);
    });

    it("reports line and column, in characters", () => {
      const line = `"${"\u00e9\ud83d\ude00".repeat(10)}",\n`;
      const error = failure(`[${line.repeat(20_000)} "\u00e9\ud83d\ude00" x]`);
      expect(error.reason).toBe("not valid JSON at line 20001, column 8");
      expect(error.details).toMatchObject({ found: "`x]`" });
    });

    it("refuses what is not UTF-8 behind the first", () => {
      const bytes = encoder.encode(`["${"x".repeat(2 * WINDOW)}"]`);
      bytes[WINDOW + 9] = 0xff;
      expect(failure(bytes).reason).toBe("the JSON document is not UTF-8 text");
    });
  });
});
