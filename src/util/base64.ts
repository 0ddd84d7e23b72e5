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
