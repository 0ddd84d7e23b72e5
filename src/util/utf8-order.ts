/**
 * Compares strings by their UTF-8 bytes, which is code point order. JavaScript compares UTF-16 code units, which
 * differs for characters beyond U+FFFF against U+E000 to U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/**
 * Sorts strings by their UTF-8 bytes, in place. Uses JavaScript's faster built-in order if there are no surrogates.
 */
export function sortUtf8(strings: string[]): string[] {
  return strings.some((text) => SURROGATE.test(text)) ? strings.sort(compareUtf8) : strings.sort();
}

const SURROGATE = /[\ud800-\udfff]/;

/** Ranks surrogates, which encode the highest code points, above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
