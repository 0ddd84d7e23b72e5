/** One dimension of a job, in items: a run of `count` results, one each `step` items from `start`, over source chunks. */
export interface Dimension {
  readonly start: number;
  readonly step: number;
  readonly count: number;
  readonly sourceChunk: number;
}

/** Source chunks along a dimension, ascending; computed, not listed. */
export interface ChunkRun {
  readonly count: number;
  at(index: number): number;
}

/** The source chunks along a dimension that hold any of the results `[first, first + count)`. */
export function chunksHit({ start, step, sourceChunk }: Dimension, first: number, count: number): ChunkRun {
  const chunkOf = (result: number) => Math.floor((start + step * result) / sourceChunk);
  if (step > sourceChunk) return { count, at: (index) => chunkOf(first + index) };
  const from = chunkOf(first);
  return { count: count === 0 ? 0 : chunkOf(first + count - 1) - from + 1, at: (index) => from + index };
}

/**
 * How many source chunks all windows of `window` results together hit along a dimension: chunks that several
 * windows touch count for each.
 */
export function chunkVisits(dimension: Dimension, window: number): number {
  const { start, step, count, sourceChunk } = dimension;
  if (count === 0) return 0;
  const windows = Math.ceil(count / window);
  if (step > sourceChunk) return count;
  const from = Math.floor(start / sourceChunk);
  const to = Math.floor((start + step * (count - 1)) / sourceChunk);
  return windows + (to - from) - bordersShared(dimension, window, windows);
}

/** How many windows after the first begin with the first result of a source chunk, so that no chunk is hit twice. */
function bordersShared({ start, step, sourceChunk }: Dimension, window: number, windows: number): number {
  if (step === 1) return countMultiples(start, window, windows - 1, sourceChunk);
  let shared = 0;
  for (let i = 1; i < windows; i++) {
    const item = start + step * window * i;
    if (Math.floor(item / sourceChunk) !== Math.floor((item - step) / sourceChunk)) shared++;
  }
  return shared;
}

/** How many of `start + window * i`, i from 1 to `last`, are multiples of `chunk`. */
function countMultiples(start: number, window: number, last: number, chunk: number): number {
  const { gcd, inverse } = euclid(window % chunk, chunk);
  if (start % gcd !== 0) return 0;
  const period = chunk / gcd;
  const wanted =
    Number(((BigInt(-start / gcd) * BigInt(inverse)) % BigInt(period)) + BigInt(period)) % period;
  const first = wanted === 0 ? period : wanted;
  return first > last ? 0 : Math.floor((last - first) / period) + 1;
}

/** Greatest common divisor of `a` and `b`, and the number that times `a` leaves it modulo `b`. */
function euclid(a: number, b: number): { gcd: number; inverse: number } {
  let [r0, r1, s0, s1] = [a, b, 1, 0];
  while (r1 !== 0) {
    const q = Math.floor(r0 / r1);
    [r0, r1] = [r1, r0 - q * r1];
    [s0, s1] = [s1, s0 - q * s1];
  }
  return { gcd: r0, inverse: s0 };
}
