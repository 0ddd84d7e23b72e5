import type { BlockLayout } from "./kernel-types.ts";

/** The bytes `[start, end)`; none where the end is not behind the start. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where in a stream of a shuffled block those bytes lie that the bytes `[start, end)` of the block itself are made of.
 *
 * @param size of the block
 * @param stream its place among the block's streams
 */
export function rangeInStream(
  { mode, itemSize, streams }: BlockLayout,
  size: number,
  stream: number,
  { start, end }: Span,
): Span {
  const plainSize = size / streams;
  if (mode === "noshuffle") {
    const first = stream * plainSize;
    return { start: Math.max(0, start - first), end: Math.min(plainSize, end - first) };
  }
  const items = Math.floor(size / itemSize);
  // Bytes past the last whole item lie at the end.
  if (end > items * itemSize) return { start: 0, end: plainSize };
  const first = Math.floor(start / itemSize);
  const last = Math.ceil(end / itemSize);
  // A stream is the plane of one byte of all items, or has all planes.
  const behindPlane = plainSize - items;
  if (mode === "shuffle") return { start: first, end: behindPlane + last };
  // A plane is eight planes of bits.
  const bits = items / 8;
  return { start: Math.floor(first / 8), end: behindPlane + 7 * bits + Math.ceil(last / 8) };
}
