import { expect } from "vitest";

// Compares typed arrays at once that are alike; else by each item, as vitest does, a thousand times slower.
expect.addEqualityTesters([
  (a: unknown, b: unknown) => {
    if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.constructor !== b.constructor) return undefined;
    return Buffer.compare(bytesOf(a), bytesOf(b)) === 0 || undefined;
  },
]);

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
