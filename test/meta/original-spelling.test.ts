import { expect, it } from "vitest";
import { restoreSpelling, wordingOf } from "../../src/meta/original-spelling.ts";
import type { JsonObject } from "../../src/util/json-value.ts";
import { json } from "./helpers.ts";

const document = json('{"a": 1, "b": [], "d": 2}') as JsonObject;
const usual = json('{"a": 1.0, "b": null, "c": {}, "e": 5}') as JsonObject;
const wording = wordingOf("v3", document, usual, ["a", "b", "c", "d", "e"], ["c"]);

it("holds the members that are worded otherwise, and the optional ones that are left out", () => {
  expect(wording).toEqual({ zarrFormat: "v3", stated: { b: [], d: 2 }, usual: { b: null, c: {} } });
  expect(wordingOf("v3", document, document, ["a", "b"])).toBeUndefined();
});

it("holds as long as the usual words are the same", () => {
  expect(restoreSpelling(usual, "v3", wording)).toEqual({ ...document, a: usual.a, e: 5 });
  expect(restoreSpelling({ ...usual, b: [1], c: { x: 1 }, d: 3 }, "v3", wording)).toEqual({
    ...usual,
    b: [1],
    c: { x: 1 },
    d: 3,
  });
  expect(restoreSpelling(usual, "v2", wording)).toEqual(usual);
  expect(restoreSpelling(usual, "v3", undefined)).toEqual(usual);
});
