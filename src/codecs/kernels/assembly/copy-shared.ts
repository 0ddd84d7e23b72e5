import { copyRows } from "./copy-rows";

/** The most dimensions that an array may have. */
const MAX_DIMENSIONS = 64;

/** The loops of the current copy, innermost first: the number of steps, and the bytes of a step on either side. */
const COUNTS = memory.data(4 * (MAX_DIMENSIONS + 1), 16);
const SOURCE_STEPS = memory.data(4 * (MAX_DIMENSIONS + 1), 16);
const TARGET_STEPS = memory.data(4 * (MAX_DIMENSIONS + 1), 16);

/**
 * Copies the items that a box shares with each of `count` consecutive other boxes. A box consists of 64-bit numbers:
 * the address of its first item; then for each dimension its start, its end, and the bytes between neighbors.
 */
export function copyShared(source: usize, targets: usize, count: usize, rank: i32, itemSize: i32): void {
  const size: usize = 8 * (1 + 3 * rank);
  for (let i: usize = 0; i < count; i++) copyOne(source, targets + i * size, rank, itemSize);
}

function copyOne(source: usize, target: usize, rank: i32, itemSize: i32): void {
  let s = load<f64>(source);
  let t = load<f64>(target);
  let depth: usize = 0;
  setLoop(0, itemSize, 1, 1);
  for (let d = rank - 1; d >= 0; d--) {
    const x = source + 8 + 24 * d;
    const y = target + 8 + 24 * d;
    const from = max(load<f64>(x), load<f64>(y));
    const count = min(load<f64>(x, 8), load<f64>(y, 8)) - from;
    if (count <= 0) return;
    s += (from - load<f64>(x)) * load<f64>(x, 16);
    t += (from - load<f64>(y)) * load<f64>(y, 16);
    if (count > 1) depth = addLoop(depth, <i32>count, <i32>load<f64>(x, 16), <i32>load<f64>(y, 16));
  }
  copyLoops(depth, <usize>s, <usize>t);
}

/** Adds an outermost loop, or extends the outermost one if the steps continue it. Returns the index of the loop. */
// @ts-ignore: decorator
@inline
function addLoop(depth: usize, count: i32, sourceStep: i32, targetStep: i32): usize {
  const at = 4 * depth;
  const inner = load<i32>(COUNTS + at);
  const isRest = sourceStep == inner * load<i32>(SOURCE_STEPS + at);
  if (isRest && targetStep == inner * load<i32>(TARGET_STEPS + at)) {
    store<i32>(COUNTS + at, inner * count);
    return depth;
  }
  setLoop(depth + 1, count, sourceStep, targetStep);
  return depth + 1;
}

// @ts-ignore: decorator
@inline
function setLoop(depth: usize, count: i32, sourceStep: i32, targetStep: i32): void {
  const at = 4 * depth;
  store<i32>(COUNTS + at, count);
  store<i32>(SOURCE_STEPS + at, sourceStep);
  store<i32>(TARGET_STEPS + at, targetStep);
}

function copyLoops(depth: usize, source: usize, target: usize): void {
  if (depth <= 2) {
    const rows = depth > 0 ? load<i32>(COUNTS + 4) : 1;
    const planes = depth > 1 ? load<i32>(COUNTS + 8) : 1;
    copyRows(
      source,
      target,
      load<i32>(COUNTS),
      rows,
      load<i32>(SOURCE_STEPS + 4),
      load<i32>(TARGET_STEPS + 4),
      planes,
      load<i32>(SOURCE_STEPS + 8),
      load<i32>(TARGET_STEPS + 8),
    );
    return;
  }
  const at = 4 * depth;
  for (let i = 0; i < load<i32>(COUNTS + at); i++) {
    copyLoops(depth - 1, source, target);
    source += load<i32>(SOURCE_STEPS + at);
    target += load<i32>(TARGET_STEPS + at);
  }
}
