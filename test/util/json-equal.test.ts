import { describe, expect, it } from "vitest";
import { jsonEqual } from "../../src/util/json-equal.ts";
import { parseJson } from "../../src/util/json-parse.ts";
import type { JsonValue } from "../../src/util/json-value.ts";

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
  ])("%s is %s", (a, b) => {
    expect(jsonEqual(parse(a), parse(b))).toBe(true);
  });

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
  ])("%s is not %s", (a, b) => {
    expect(jsonEqual(parse(a), parse(b))).toBe(false);
  });
});
