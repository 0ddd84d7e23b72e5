import { expect, test } from "vitest";
import { itemBytes } from "../../../src/hierarchy/write/item.ts";
import { errorOf } from "../../codecs/support.ts";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("half of a character is no string", async () => {
  expect(text(itemBytes("😀", { kind: "string" }))).toBe("😀");
  await errorOf(() => itemBytes("a\ud83d", { kind: "string" }), "invalid-option");
});

test("objects keep numbers that are not finite, and every digit", () => {
  expect(text(itemBytes([Number.NaN, -Infinity, 2n ** 64n], { kind: "object" }))).toBe(
    "[NaN,-Infinity,18446744073709551616]",
  );
});
