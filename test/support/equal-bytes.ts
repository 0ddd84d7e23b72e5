import { expect } from "vitest";

/** Of typed arrays that are alike; others are compared by each item, as vitest does, a thousand times slower. */
function haveSameBytes(a: unknown, b: unknown): true | undefined {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.constructor !== b.constructor) return undefined;
  return Buffer.compare(bytesOf(a), bytesOf(b)) === 0 || undefined;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

// This is run for each test file, and testers stay for all files of a process.
const ADDED = Symbol.for("zarrflow.testers-of-bytes");
if (!Reflect.has(globalThis, ADDED)) expect.addEqualityTesters([haveSameBytes]);
Reflect.set(globalThis, ADDED, true);
