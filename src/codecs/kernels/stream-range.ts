import type { BlockLayout } from "./kernel-types.ts";

/** The bytes `[start, end)`; empty if the end is not after the start. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The part of one stream of a shuffled block that contributes to the bytes `[start, end)` of the block.
 *
 * @param size bytes of the block
 * @param stream index of the stream in the block
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
  // Bytes after the last whole item are at the end.
  if (end > items * itemSize) return { start: 0, end: plainSize };
  const first = Math.floor(start / itemSize);
  const last = Math.ceil(end / itemSize);
  // The stream is the plane of one byte of all items, or contains all planes.
  const behindPlane = plainSize - items;
  if (mode === "shuffle") return { start: first, end: behindPlane + last };
  // A plane consists of eight planes of bits.
  const bits = items / 8;
  return { start: Math.floor(first / 8), end: behindPlane + 7 * bits + Math.ceil(last / 8) };
}
