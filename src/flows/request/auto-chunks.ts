import { product } from "../../util/shape.ts";

/** What chunks of about a size are made of. */
export interface AutoChunks {
  readonly shape: readonly number[];
  /** Chunk lengths that are merged, or divided where they are too large: those of the source, or of the chunks of a shard. */
  readonly units: readonly number[];
  /** Lengths that are given or kept; undefined along the dimensions whose length is chosen. */
  readonly given: readonly (number | undefined)[];
  /** The most items of a chunk, where lengths of 1 do not make more. */
  readonly maxItems: number;
  /** Whether units may be divided; shards hold whole chunks. */
  readonly mayDivide: boolean;
}

/**
 * The largest chunks of at most `maxItems` items, with every chosen dimension in about as many chunks as the others. A
 * chosen length is a multiple of its unit, or the whole dimension. Only where chunks of one unit are larger than
 * `maxItems`, units are divided: then a length divides the unit, where a divisor is at least half as long as there is
 * room for.
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
  /** Length of one chunk for all of it. */
  readonly whole: number;
}

type LongestWithin = (axis: Axis, most: number) => number;

/** The longest multiple of the unit, or all of the dimension; one unit at least. */
function multiplying({ unit, whole }: Axis, most: number): number {
  return most >= whole ? whole : Math.max(unit, Math.floor(most / unit) * unit);
}

/** Longer units are not factorised: they come from metadata that anybody may have written. */
const MAX_FACTORISED = 2 ** 32;

/** The longest part of the unit: one of its divisors, unless these are much shorter than what there is room for. */
function dividing(axes: readonly Axis[]): LongestWithin {
  const divisors = new Map(axes.map(({ unit }) => [unit, divisorsOf(unit)]));
  return ({ unit }, most) => {
    if (most >= unit) return unit;
    const divisor = divisors.get(unit)?.findLast((one) => one <= most) ?? 1;
    return divisor * 2 >= most ? divisor : Math.floor(most);
  };
}

/** All divisors of a number, ascending. */
function divisorsOf(n: number): number[] {
  const small: number[] = [];
  for (let i = 1; n <= MAX_FACTORISED && i * i <= n; i++) if (n % i === 0) small.push(i);
  const large = small.map((divisor) => n / divisor).reverse();
  return [...new Set([...small, ...large])];
}

/** The smallest number from 1 to `most`, nearly, for which something holds that holds for all larger ones. */
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
