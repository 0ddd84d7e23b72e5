import { describe, expect, it } from "vitest";
import { parseJson } from "../../src/util/json-parse.ts";
import { fromPlain, toPlain } from "../../src/util/json-plain.ts";
import { JsonNumber } from "../../src/util/json-value.ts";

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
