// @module-tag slow
import { expect, it } from "vitest";
import { fromBase64, toBase64 } from "../../src/util/base64.ts";

it("is the standard alphabet with padding", () => {
  const bytes = Uint8Array.of(0, 255, 254, 251, 240);
  expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
  expect(fromBase64("AP/++/A=")).toEqual(bytes);
  expect(fromBase64("")).toEqual(new Uint8Array(0));
});

it.each(["AP/++/A", "AP_--_A=", "A===", " AAA=", "AA=A", "!!!!"])("%j is none", (text) => {
  expect(fromBase64(text)).toBeUndefined();
});

it("takes long text", () => {
  expect(fromBase64("A".repeat(2 ** 24))).toHaveLength(3 * 2 ** 22);
  expect(fromBase64(`${"A".repeat(2 ** 24)}!AAA`)).toBeUndefined();
});
