/**
 * Copies in steps of 16 bytes, the base of all LZ kernels. They may read and write up to 64 bytes beyond the requested
 * range; the host keeps that much room free after every buffer.
 */

/**
 * For each distance below 16: which of the last bytes come next. The second half contains how far to advance after
 * writing 16 such bytes, so that the pattern continues.
 */
const PATTERNS = memory.data(16 * 17, 16);

for (let i = 0; i < 16; i++) store<u8>(PATTERNS + i, <u8>i);
for (let distance = 1; distance < 16; distance++) {
  for (let i = 0; i < 16; i++) store<u8>(PATTERNS + 16 * distance + i, <u8>(i % distance));
  store<u8>(PATTERNS + 256 + distance, <u8>(16 - (16 % distance)));
}

/** The next 16 bytes of a repetition of the bytes `distance` before `to`. */
// @ts-ignore: decorator
@inline
export function nextUnit(to: usize, distance: usize): v128 {
  const from = to - distance;
  return v128.swizzle(v128.load(from), v128.load(PATTERNS + (distance < 16 ? 16 * distance : 0)));
}

/** Copies `length` bytes that do not overlap. */
// @ts-ignore: decorator
@inline
export function copyLiterals(to: usize, from: usize, length: usize): void {
  const end = to + length;
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < end);
}

/** Writes `length` bytes that repeat the bytes `distance` before; the ranges may overlap. */
// @ts-ignore: decorator
@inline
export function copyMatch(to: usize, distance: usize, length: usize): void {
  const end = to + length;
  if (distance >= 16) {
    let from = to - distance;
    do {
      v128.store(to, v128.load(from));
      to += 16;
      from += 16;
    } while (to < end);
  } else {
    const unit = v128.swizzle(v128.load(to - distance), v128.load(PATTERNS + 16 * distance));
    const step = <usize>load<u8>(PATTERNS + 256 + distance);
    do {
      v128.store(to, unit);
      to += step;
    } while (to < end);
  }
}

/** Number of bytes from `at` on, up to `end`, that equal the bytes from `earlier` on. May read beyond `end`. */
// @ts-ignore: decorator
@inline
export function matchLength(at: usize, earlier: usize, end: usize): usize {
  const start = at;
  do {
    const difference = load<u64>(at) ^ load<u64>(earlier);
    if (difference != 0) return min(at + <usize>(ctz(difference) >> 3), end) - start;
    at += 8;
    earlier += 8;
  } while (at < end);
  return end - start;
}
