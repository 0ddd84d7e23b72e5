/** A source of byte buffers that are returned after use, so that memory is reused and can be counted. */
export interface Buffers {
  /** Returns a buffer of exactly `byteLength` bytes with undefined content. The caller owns it until `give`. */
  take(byteLength: number): Uint8Array;
  /** Takes back the buffer that contains `view`, which must not be used afterwards. Ignores other buffers. */
  give(view: Uint8Array): void;
}

/** Newly allocated buffers left to the garbage collector, for callers without a budget. */
export const plainBuffers: Buffers = {
  take: (byteLength) => new Uint8Array(byteLength),
  give: () => {},
};

/** Concatenates all parts into a new buffer. */
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
