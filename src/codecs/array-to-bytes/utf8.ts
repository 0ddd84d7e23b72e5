import type { VariableData } from "../chunk-data.ts";
import { corrupt } from "../failures.ts";
import { wordsOf } from "../kernels/words.ts";

/** True if `bytes[start, end)` is valid UTF-8: no truncated or overlong form, no surrogate, nothing above U+10FFFF. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  const words = wordsOf(bytes);
  let i = start;
  while (i < end) {
    while (i + 4 <= end && (words.getInt32(i, true) & 0x8080_8080) === 0) i += 4;
    if (i === end) return true;
    const lead = words.getUint8(i++);
    if (lead < 0x80) continue;
    const more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || i + more > end) return false;
    const second = words.getUint8(i);
    if (lead === 0xe0 && second < 0xa0) return false;
    if (lead === 0xed && second >= 0xa0) return false;
    if (lead === 0xf0 && second < 0x90) return false;
    if (lead === 0xf4 && second >= 0x90) return false;
    for (const stop = i + more; i < stop; i++) if (!isContinuation(words.getUint8(i))) return false;
  }
  return true;
}

/** True if `byte` is the second or a later byte of a character. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/**
 * Checks that each item on its own is valid UTF-8.
 *
 * @throws `corrupt-chunk` naming the first item that is not.
 */
export function assertStrings({ bytes, offsets }: VariableData): void {
  const items = offsets.length - 1;
  // Fast path: all bytes together are valid, and no item starts within a character.
  if (isUtf8(bytes, 0, bytes.length) && offsets.every((start) => !isContinuation(bytes[start] ?? 0))) return;
  for (let i = 0; i < items; i++) {
    if (!isUtf8(bytes, offsets[i] ?? 0, offsets[i + 1] ?? 0)) throw corrupt(`item ${i} is not valid UTF-8`);
  }
}
