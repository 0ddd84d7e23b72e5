import fc from "fast-check";
import { describe, it } from "vitest";
import { compareUtf8 } from "../../src/util/utf8-order.ts";

describe("compareUtf8", () => {
  it("orders as the bytes of UTF-8 do", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "/", ".", "é", "\ud7ff", "\ue000", "\uffff", "😀", "𐀀"),
    });
    fc.assert(
      fc.property(
        text,
        text,
        (a, b) => Math.sign(compareUtf8(a, b)) === Buffer.compare(Buffer.from(a), Buffer.from(b)),
      ),
    );
  });
});
