import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hasher } from "../../src/util/hash.ts";
import { Sha256 } from "../../src/util/sha256.ts";

test("SHA-256 of our own is that of Node, however the bytes are cut", async () => {
  const newHash = await hasher();
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (pieces) => {
      const [ours, nodes, reference] = [new Sha256(), newHash(), createHash("sha256")];
      for (const piece of pieces) for (const hash of [ours, nodes, reference]) hash.update(piece);
      const expected = reference.digest("hex");
      expect(Buffer.from(ours.digest()).toString("hex")).toBe(expected);
      expect(Buffer.from(nodes.digest()).toString("hex")).toBe(expected);
    }),
  );
});

test("SHA-256 takes text as UTF-8", () => {
  const expected = createHash("sha256").update("Grüße").digest();
  expect(new Sha256().update("Grüße").digest()).toEqual(new Uint8Array(expected));
});
