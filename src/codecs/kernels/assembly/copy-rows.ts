/** From this many bytes on, `memory.copy` is faster than a loop; it is a call out of WebAssembly. */
const LONG_RUN: usize = 1024;

/**
 * Copies planes of runs: in each plane, `rows` runs of `length` bytes. The steps between runs and between planes are in
 * bytes and differ by side. Touches nothing between the runs.
 */
export function copyRows(
  source: usize,
  target: usize,
  length: usize,
  rows: usize,
  sourceStep: isize,
  targetStep: isize,
  planes: usize,
  sourcePlane: isize,
  targetPlane: isize,
): void {
  for (let plane: usize = 0; plane < planes; plane++) {
    copyPlane(source, target, length, rows, sourceStep, targetStep);
    source += sourcePlane;
    target += targetPlane;
  }
}

function copyPlane(
  source: usize,
  target: usize,
  length: usize,
  rows: usize,
  sourceStep: isize,
  targetStep: isize,
): void {
  let s = source;
  let t = target;
  if (length == 64) {
    for (let row: usize = 0; row < rows; row++) {
      v128.store(t, v128.load(s));
      v128.store(t, v128.load(s, 16), 16);
      v128.store(t, v128.load(s, 32), 32);
      v128.store(t, v128.load(s, 48), 48);
      s += sourceStep;
      t += targetStep;
    }
  } else if (length >= LONG_RUN) {
    for (let row: usize = 0; row < rows; row++) {
      memory.copy(t, s, length);
      s += sourceStep;
      t += targetStep;
    }
  } else if (length >= 16) {
    // The last 16 bytes of a run overlap the bytes before.
    const last = length - 16;
    for (let row: usize = 0; row < rows; row++) {
      for (let i: usize = 0; i < last; i += 16) v128.store(t + i, v128.load(s + i));
      v128.store(t + last, v128.load(s + last));
      s += sourceStep;
      t += targetStep;
    }
  } else if (length >= 8) {
    copyEnds<u64>(s, t, length, rows, sourceStep, targetStep);
  } else if (length >= 4) {
    copyEnds<u32>(s, t, length, rows, sourceStep, targetStep);
  } else {
    for (let row: usize = 0; row < rows; row++) {
      for (let i: usize = 0; i < length; i++) store<u8>(t + i, load<u8>(s + i));
      s += sourceStep;
      t += targetStep;
    }
  }
}

/** Copies each run as its first and its last word, which may overlap. */
// @ts-ignore: decorator
@inline
function copyEnds<T>(
  source: usize,
  target: usize,
  length: usize,
  rows: usize,
  sourceStep: isize,
  targetStep: isize,
): void {
  const last = length - sizeof<T>();
  for (let row: usize = 0; row < rows; row++) {
    store<T>(target, load<T>(source));
    store<T>(target + last, load<T>(source + last));
    source += sourceStep;
    target += targetStep;
  }
}
