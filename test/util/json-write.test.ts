import { describe, expect, it } from "vitest";
import { isZarrflowError } from "../../src/util/errors.ts";
import { parseJson } from "../../src/util/json-parse.ts";
import { JsonNumber } from "../../src/util/json-value.ts";
import { formatFloat, writeJson } from "../../src/util/json-write.ts";

const python = { indent: 4, sortNames: true, ascii: true } as const;

describe("writeJson", () => {
  it("writes what JSON.stringify writes", () => {
    const value = { b: [1, 2.5, "é\n\u2028"], a: { c: null, d: [], e: {} }, f: true };
    expect(writeJson(value)).toBe(JSON.stringify(value));
    expect(writeJson(value, { indent: 2 })).toBe(JSON.stringify(value, null, 2));
  });

  it("writes as Python's json.dumps(indent=4, sort_keys=True, ensure_ascii=True) does", () => {
    const value = {
      z: [1, []],
      "\u{1f600}": "\u{1f600}\u007f\u0001\t",
      "\uffff": {},
      a: [{ x: 1e20, y: 1e-7, z: 0.0001 }],
    };
    // Printed by CPython 3.11.
    expect(writeJson(value, python)).toBe(
      [
        "{",
        '    "a": [',
        "        {",
        '            "x": 1e+20,',
        '            "y": 1e-07,',
        '            "z": 0.0001',
        "        }",
        "    ],",
        '    "z": [',
        "        1,",
        "        []",
        "    ],",
        '    "\\uffff": {},',
        '    "\\ud83d\\ude00": "\\ud83d\\ude00\\u007f\\u0001\\t"',
        "}",
      ].join("\n"),
    );
  });

  it("keeps the text of number tokens", () => {
    const text = '{"a":1.0,"b":18446744073709551615,"c":-0.0,"d":1E5}';
    expect(writeJson(parseJson(new TextEncoder().encode(text)))).toBe(text);
    expect(writeJson([new JsonNumber("1.50")])).toBe("[1.50]");
  });

  it("refuses NaN and infinities with their pointer, or writes what the caller says", () => {
    const value = { a: [1, Number.NaN, Number.NEGATIVE_INFINITY] };
    const refusal = (): unknown => {
      try {
        return writeJson(value);
      } catch (error) {
        return error;
      }
    };
    const error = refusal();
    expect(isZarrflowError(error, "loss-refused") && error.details).toEqual({
      pointer: "/a/1",
      pointers: ["/a/1"],
      value: "NaN",
    });
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
  ])("%d", (value, text) => {
    expect(formatFloat(value)).toBe(text);
  });
});
