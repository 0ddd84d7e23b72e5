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

/** True if both arrays have the same bytes. */
export function bytesEqual(a: Uint8Array, b: Uint8Array | undefined): boolean {
  if (a.length !== b?.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Formats bytes as hexadecimal, two digits each. */
export function toHex(bytes: Uint8Array): string {
  let digits = "";
  for (const byte of bytes) digits += DIGITS[byte];
  return digits;
}

/** Parses an even number of hexadecimal digits. */
export function fromHex(digits: string): Uint8Array {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Encodes bytes as Base64 with the standard alphabet and padding. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Decodes padded Base64 of the standard alphabet; undefined if `text` is not valid. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
