import { describe, expect, test } from "vitest";
import { parseJsonCut } from "../../src/util/json-cut.ts";
import { parseJson } from "../../src/util/json-parse.ts";

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
  test("has their text, as it stands, by their names", () => {
    const text =
      '\ufeff{"a": [1, {"m": {"x": 1}}], "m" : {"é\\n": {"b": [ 1.0 ]} , "t":NaN, "t": "ü\\u00e9"}, "z": "m"}';
    const { json, texts } = parseJsonCut(encode(text), cut);
    expect(json).toEqual({ a: [1, { m: { x: 1 } }], m: { "é\n": null, t: null }, z: "m" });
    expect([...texts].map(([name, bytes]) => [name, decode(bytes)])).toEqual([
      ["é\n", '{"b": [ 1.0 ]}'],
      ["t", '"ü\\u00e9"'],
    ]);
  });

  test("shares the bytes of its texts with the document", () => {
    const bytes = encode('{"m": {"a": {}}}');
    expect(parseJsonCut(bytes, cut).texts.get("a")?.buffer).toBe(bytes.buffer);
  });

  const tokens =
    '{} [] {"a":1} [1,2] [1,] [,] {"a"} {"a":} {a:1} 01 -1 - 1. .5 1.5 1e5 1e 1E+2 1e-02 "" "\\x" "\\u12g4" "\\u12e4" "a\tb" "a true tru nul null [[]] [[] ]] {"a":[{}]}, 1.0 -0 "é" [1 2]'.split(
      " ",
    );
  test.each([
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

  test("is refused where what is cut out is nested too deep, or is no JSON", () => {
    const deep = `{"m": {"a": ${"[".repeat(2000)}${"]".repeat(2000)}}}`;
    expect(() => parseJsonCut(encode(deep), cut)).toThrow(
      expect.objectContaining({ code: "resource-limit" }),
    );
    const broken = '{"m":\n {"a": {"b": tru}}}';
    expect(() => parseJsonCut(encode(broken), cut)).toThrow("not valid JSON at line 2, column 14");
  });
});
