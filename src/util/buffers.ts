/** A source of byte buffers that are given back after use, so that memory is reused and can be counted. */
export interface Buffers {
  /** A buffer of exactly `byteLength` bytes, its content undefined; owned by the caller until given back. */
  take(byteLength: number): Uint8Array;
  /** Gives back the taken buffer that `view` shows (any part of it); it must not be used afterwards. Others are ignored. */
  give(view: Uint8Array): void;
}

/** Buffers straight from the garbage collector, for callers without a budget. */
export const plainBuffers: Buffers = {
  take: (byteLength) => new Uint8Array(byteLength),
  give: () => {},
};

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
