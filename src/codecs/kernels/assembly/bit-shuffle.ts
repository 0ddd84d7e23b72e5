import { partEight, unshuffle } from "./shuffle";

/**
 * The second half of bit shuffle: splits each plane of a byte shuffle into eight planes of bits, the lowest bit first,
 * packed lowest bit first. Transposes the 8 x 8 bits of eight items, then shuffles the bytes of such groups.
 */

/**
 * Splits `planes` consecutive planes of `items` bytes each into planes of bits, which are `step` bytes apart. `items`
 * is a multiple of 8.
 */
export function splitBits(source: usize, target: usize, planes: usize, items: usize, step: usize): void {
  for (; planes > 0; planes--) {
    let i: usize = 0;
    for (; i + 128 <= items; i += 128) {
      const s = source + i;
      partEight(
        turn(v128.load(s)),
        turn(v128.load(s, 16)),
        turn(v128.load(s, 32)),
        turn(v128.load(s, 48)),
        turn(v128.load(s, 64)),
        turn(v128.load(s, 80)),
        turn(v128.load(s, 96)),
        turn(v128.load(s, 112)),
        target + (i >> 3),
        step,
      );
    }
    for (; i < items; i += 8) {
      let bits = i64x2.extract_lane(turn(v128.load64_zero(source + i)), 0);
      let t = target + (i >> 3);
      for (let bit = 0; bit < 8; bit++, bits >>= 8, t += step) store<u8>(t, <u8>bits);
    }
    source += items;
    target += 8 * step;
  }
}

/** The inverse of `splitBits`. */
export function joinBits(source: usize, target: usize, planes: usize, items: usize, step: usize): void {
  for (; planes > 0; planes--) {
    unshuffle(source, target, items >> 3, 8, step);
    let i: usize = 0;
    for (; i + 16 <= items; i += 16) v128.store(target + i, turn(v128.load(target + i)));
    if (i < items) v128.store64_lane(target + i, turn(v128.load64_zero(target + i)), 0);
    source += 8 * step;
    target += items;
  }
}

/** Transposes two squares of 8 x 8 bits. */
// @ts-ignore: decorator
@inline
function turn(rows: v128): v128 {
  let x = v128.and(v128.xor(rows, i64x2.shr_u(rows, 7)), i64x2.splat(0x00aa_00aa_00aa_00aa));
  rows = v128.xor(v128.xor(rows, x), i64x2.shl(x, 7));
  x = v128.and(v128.xor(rows, i64x2.shr_u(rows, 14)), i64x2.splat(0x0000_cccc_0000_cccc));
  rows = v128.xor(v128.xor(rows, x), i64x2.shl(x, 14));
  x = v128.and(v128.xor(rows, i64x2.shr_u(rows, 28)), i64x2.splat(0x0000_0000_f0f0_f0f0));
  return v128.xor(v128.xor(rows, x), i64x2.shl(x, 28));
}
