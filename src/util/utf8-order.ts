/**
 * Orders strings by their UTF-8 bytes. This is the order of code points, which differs from JavaScript's own, by
 * UTF-16 code units, where a character beyond U+FFFF meets one of U+E000 to U+FFFF.
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

/** Sorts strings by their UTF-8 bytes, in place. JavaScript's own order is the same but where there are surrogates. */
export function sortUtf8(strings: string[]): string[] {
  return strings.some((text) => SURROGATE.test(text)) ? strings.sort(compareUtf8) : strings.sort();
}

const SURROGATE = /[\ud800-\udfff]/;

/** Lifts surrogates, which stand for the highest code points, above the rest. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
