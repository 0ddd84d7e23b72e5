import { wordView } from "./swap-bytes.ts";

/**
 * The second half of bit shuffle: splits each plane of a byte shuffle into eight planes of bits, the lowest bit first,
 * packed lowest bit first. Both halves together are the bit shuffle of blosc.
 */

/**
 * Splits `planes` consecutive planes of `items` bytes each, from `start` on, into planes of bits at `targetStart`.
 * `items` is a multiple of 8.
 */
export function splitBits(
  source: Uint8Array,
  start: number,
  target: Uint8Array,
  targetStart: number,
  planes: number,
  items: number,
): void {
  const words = wordView(source);
  const step = items / 8;
  for (let p = 0; p < planes; p++) {
    let s = start + p * items;
    let t = targetStart + p * items;
    for (const end = t + step; t < end; t++, s += 8) {
      let low = words.getInt32(s, true);
      let high = words.getInt32(s + 4, true);
      low = swapSquares(low);
      high = swapSquares(high);
      const first = (low & 0x0f0f_0f0f) | ((high & 0x0f0f_0f0f) << 4);
      const last = ((low >>> 4) & 0x0f0f_0f0f) | (high & 0xf0f0_f0f0);
      target[t] = first;
      target[t + step] = first >>> 8;
      target[t + 2 * step] = first >>> 16;
      target[t + 3 * step] = first >>> 24;
      target[t + 4 * step] = last;
      target[t + 5 * step] = last >>> 8;
      target[t + 6 * step] = last >>> 16;
      target[t + 7 * step] = last >>> 24;
    }
  }
}

/** The inverse of `splitBits`. */
export function joinBits(
  source: Uint8Array,
  start: number,
  target: Uint8Array,
  targetStart: number,
  planes: number,
  items: number,
): void {
  const out = wordView(target);
  const step = items / 8;
  for (let p = 0; p < planes; p++) {
    let s = start + p * items;
    let t = targetStart + p * items;
    for (const end = s + step; s < end; s++, t += 8) {
      const low = swapSquares(
        (source[s] as number) |
          ((source[s + step] as number) << 8) |
          ((source[s + 2 * step] as number) << 16) |
          ((source[s + 3 * step] as number) << 24),
      );
      const high = swapSquares(
        (source[s + 4 * step] as number) |
          ((source[s + 5 * step] as number) << 8) |
          ((source[s + 6 * step] as number) << 16) |
          ((source[s + 7 * step] as number) << 24),
      );
      out.setInt32(t, (low & 0x0f0f_0f0f) | ((high & 0x0f0f_0f0f) << 4), true);
      out.setInt32(t + 4, ((low >>> 4) & 0x0f0f_0f0f) | (high & 0xf0f0_f0f0), true);
    }
  }
}

/** Transposes the 4 x 4 bit squares in four rows of eight bits. */
function swapSquares(rows: number): number {
  const ones = (rows ^ (rows >>> 7)) & 0x00aa_00aa;
  const once = rows ^ ones ^ (ones << 7);
  const twos = (once ^ (once >>> 14)) & 0x0000_cccc;
  return once ^ twos ^ (twos << 14);
}
