/** Puts in place of each byte its difference to the one `distance` before. */
export function encodeDelta(bytes: Uint8Array, distance: number): void {
  for (let i = bytes.length - 1; i >= distance; i--) {
    bytes[i] = (bytes[i] as number) - (bytes[i - distance] as number);
  }
}

/** Adds to each byte, in place, the one `distance` before. */
export function decodeDelta(bytes: Uint8Array, distance: number): void {
  for (let i = distance; i < bytes.length; i++) {
    bytes[i] = (bytes[i] as number) + (bytes[i - distance] as number);
  }
}
