import { plainBuffers } from "./buffers.ts";

/** The bytes of all parts, one after the other, in a new buffer. */
export function joinBytes(
  parts: readonly Uint8Array[],
  allocate: (byteLength: number) => Uint8Array = plainBuffers.take,
): Uint8Array {
  const joined = allocate(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
