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
