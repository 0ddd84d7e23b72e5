import { product } from "../../util/shape.ts";

/** Input of `autoChunks`. */
export interface AutoChunks {
  readonly shape: readonly number[];
  /**
   * Chunk lengths to merge, or to divide if they are too large: of the source's chunks, or of the chunks of a
   * shard.
   */
  readonly units: readonly number[];
  /** Lengths that are fixed; undefined for dimensions whose length is chosen here. */
  readonly given: readonly (number | undefined)[];
  /** Maximum items per chunk. Fixed lengths, or units that may not be divided, can exceed it. */
  readonly maxItems: number;
  /** True if units may be divided. Shards consist of whole chunks, so theirs may not. */
  readonly mayDivide: boolean;
}

/**
 * Computes the largest chunks of at most `maxItems` items, with about the same number of chunks along every chosen
 * dimension. A chosen length is a multiple of its unit, or the whole dimension. Units are divided only if a chunk
 * of one unit each exceeds `maxItems`; a length then divides its unit if some divisor is at least half of the
 * longest possible length.
 */
export function autoChunks({ shape, units, given, maxItems, mayDivide }: AutoChunks): number[] {
  const axes = shape.map((items, d): Axis => {
    const length = Math.max(1, items);
    const unit = Math.min(units[d] ?? 1, mayDivide ? length : Number.POSITIVE_INFINITY);
    return { unit, whole: mayDivide ? length : Math.ceil(length / unit) * unit };
  });
  const lengthsAt = (lengthOf: (axis: Axis) => number) =>
    axes.map((axis, d) => given[d] ?? Math.max(1, lengthOf(axis)));
  const smallest = lengthsAt(({ unit }) => unit);
  const isDivided = product(smallest) > maxItems;
  if (isDivided && !mayDivide) return smallest;
  const longest = isDivided ? dividing(axes) : multiplying;

  const inChunks = (count: number) => lengthsAt((axis) => longest(axis, axis.whole / count));
  const fits = (count: number) => product(inChunks(count)) <= maxItems;
  const lengths = inChunks(fewest(fits, Math.max(1, ...axes.map(({ whole }) => whole))));
  const byChunks = axes.flatMap((axis, d) => (given[d] === undefined ? [{ axis, d }] : []));
  byChunks.sort((a, b) => b.axis.whole / (lengths[b.d] ?? 1) - a.axis.whole / (lengths[a.d] ?? 1));
  for (const { axis, d } of byChunks) {
    const others = product(lengths.toSpliced(d, 1));
    lengths[d] = Math.max(lengths[d] ?? 1, longest(axis, Math.floor(maxItems / others)));
  }
  return lengths;
}

interface Axis {
  readonly unit: number;
  /** Length of a single chunk that covers the dimension. */
  readonly whole: number;
}

type LongestWithin = (axis: Axis, most: number) => number;

/** Returns the longest multiple of the unit within `most`, or the whole dimension; at least one unit. */
function multiplying({ unit, whole }: Axis, most: number): number {
  return most >= whole ? whole : Math.max(unit, Math.floor(most / unit) * unit);
}

/** Longer units are not factorised: untrusted metadata could make that arbitrarily slow. */
const MAX_FACTORISED = 2 ** 32;

/**
 * Returns the longest part of the unit within `most`: a divisor, unless the largest that fits is less than half of
 * `most`.
 */
function dividing(axes: readonly Axis[]): LongestWithin {
  const divisors = new Map(axes.map(({ unit }) => [unit, divisorsOf(unit)]));
  return ({ unit }, most) => {
    if (most >= unit) return unit;
    const divisor = divisors.get(unit)?.findLast((one) => one <= most) ?? 1;
    return divisor * 2 >= most ? divisor : Math.floor(most);
  };
}

/** Returns all divisors of a number, ascending. */
function divisorsOf(n: number): number[] {
  const small: number[] = [];
  for (let i = 1; n <= MAX_FACTORISED && i * i <= n; i++) if (n % i === 0) small.push(i);
  const large = small.map((divisor) => n / divisor).reverse();
  return [...new Set([...small, ...large])];
}

/**
 * Returns about the smallest number from 1 to `most` that meets a condition, which must then hold for all larger
 * ones.
 */
function fewest(holds: (count: number) => boolean, most: number): number {
  if (holds(1)) return 1;
  let [low, high] = [1, most];
  for (let i = 0; i < 64 && high / low > 1 + 1e-9; i++) {
    const middle = Math.sqrt(low * high);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
