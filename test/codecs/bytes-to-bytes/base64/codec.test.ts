import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBytes, encodeBytes } from "../../../../src/codecs/standalone/decode-bytes.ts";
import { errorOf } from "../../support.ts";

const config = { id: "base64" };

test("is what Node makes of any bytes", () =>
  fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const encoded = await encodeBytes(config, bytes);
      expect(Buffer.from(encoded).toString()).toBe(Buffer.from(bytes).toString("base64"));
      expect(await decodeBytes(config, encoded)).toEqual(new Uint8Array(bytes));
    }),
  ));

test.each(["A", "AAA", "AAA=AAAA", "AA AA===", "=AAA", "A===", "AA-_", "AAA\u00e9"])(
  "%s is corrupt",
  async (text) => {
    await errorOf(() => decodeBytes(config, Buffer.from(text, "latin1")), "corrupt-chunk");
  },
);

test("more than is promised is corrupt, too", async () => {
  await errorOf(() => decodeBytes(config, Buffer.from("AAAA"), { size: 2 }), "corrupt-chunk");
});
