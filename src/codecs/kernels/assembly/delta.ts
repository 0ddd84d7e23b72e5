/** Differences of neighboring numbers, and running sums. May also write up to 15 bytes after the end. */

/** Formats of numbers, as the host passes them. */
const I8 = 0;
const I16 = 1;
const I32 = 2;
const I64 = 3;
const F32 = 4;

/** Stores each number of `source` minus the previous one; the number before `source` precedes the first. */
export function deltaEncode(source: usize, target: usize, length: usize, format: i32): void {
  const end = source + length;
  if (format == I8) differencesOf<i8>(source, target, end);
  else if (format == I16) differencesOf<i16>(source, target, end);
  else if (format == I32) differencesOf<i32>(source, target, end);
  else if (format == I64) differencesOf<i64>(source, target, end);
  else if (format == F32) differencesOf<f32>(source, target, end);
  else differencesOf<f64>(source, target, end);
}

/** Computes running sums in place, starting from the number before `start`. */
export function deltaDecode(start: usize, length: usize, format: i32): void {
  const end = start + length;
  if (format == I8) intSums<i8>(start, end);
  else if (format == I16) intSums<i16>(start, end);
  else if (format == I32) intSums<i32>(start, end);
  else if (format == I64) intSums<i64>(start, end);
  else if (format == F32) floatSums<f32>(start, end);
  else floatSums<f64>(start, end);
}

function differencesOf<T>(source: usize, target: usize, end: usize): void {
  let t = target;
  for (let s = source; s < end; s += 16, t += 16) {
    v128.store(t, v128.sub<T>(v128.load(s), v128.load(s - sizeof<T>())));
  }
}

/** Computes sums within 16 bytes in doubling steps; only the last step waits for the previous 16 bytes. */
function intSums<T>(start: usize, end: usize): void {
  const zero = i64x2.splat(0);
  let total = v128.splat<T>(load<T>(start - sizeof<T>()));
  for (let s = start; s < end; s += 16) {
    let v = v128.load(s);
    if (sizeof<T>() < 2)
      v = v128.add<T>(v, i8x16.shuffle(zero, v, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30));
    if (sizeof<T>() < 4)
      v = v128.add<T>(v, i8x16.shuffle(zero, v, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29));
    if (sizeof<T>() < 8)
      v = v128.add<T>(v, i8x16.shuffle(zero, v, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27));
    v = v128.add<T>(v, i8x16.shuffle(zero, v, 0, 0, 0, 0, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23));
    v128.store(s, v128.add<T>(v, total));
    total = v128.add<T>(total, v128.splat<T>(v128.extract_lane<T>(v, <u8>(16 / sizeof<T>() - 1))));
  }
}

/** Adds the numbers one by one, because sums of floats depend on the order. */
function floatSums<T>(start: usize, end: usize): void {
  let total = load<T>(start - sizeof<T>());
  for (let s = start; s < end; s += sizeof<T>()) {
    total = <T>(total + load<T>(s));
    store<T>(s, total);
  }
}
