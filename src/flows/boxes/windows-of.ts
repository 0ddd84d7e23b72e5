import type { CodecPipeline } from "../../codecs/codec.ts";
import type { Region } from "../../streams/chunk.ts";
import { pooledSize } from "../../streams/pooled-size.ts";
import { intersect } from "../../streams/selection.ts";
import { coordsOf, product } from "../../util/shape.ts";

/** Bytes that a box of items takes in a buffer; of items of varying size an estimate. */
export function boxBytes(
  shape: readonly number[],
  { spec, decodedSize }: Pick<CodecPipeline, "spec" | "decodedSize">,
): number {
  return pooledSize(Math.ceil((product(shape) * decodedSize) / Math.max(1, product(spec.shape))));
}

/** Bytes of one chunk on its way between a store and a box, stored and decoded. */
export function chunkFootprint({ decodedSize, maxEncodedSize, scratchSize }: CodecPipeline): number {
  return pooledSize(decodedSize) + pooledSize(maxEncodedSize) + scratchSize;
}

/**
 * Grows a window from one unit until it covers `shape` or does not fit any more, along the last dimension first.
 *
 * @param unit items along each dimension, of which windows have multiples
 * @param most the most items that a window may have
 */
export function growWindow(unit: readonly number[], shape: readonly number[], most: number): number[] {
  const window = [...unit];
  for (let d = unit.length - 1; d >= 0; d--) {
    const length = unit[d] ?? 1;
    // a region that does not begin where a unit does may touch one more
    const wanted = Math.ceil((shape[d] ?? 1) / length) + 1;
    window[d] = length * Math.max(1, Math.min(wanted, Math.floor(most / product(window))));
  }
  return window;
}

/** Cuts a region into the windows of a grid that begins at the origin, in C order. */
export function* windowsOf(region: Region, window: readonly number[]): Generator<Region> {
  if (product(region.shape) === 0) return;
  const first = region.start.map((from, d) => Math.floor(from / (window[d] ?? 1)));
  const counts = region.start.map((from, d) => {
    const end = from + (region.shape[d] ?? 0);
    return Math.ceil(end / (window[d] ?? 1)) - (first[d] ?? 0);
  });
  for (const at of coordsOf(counts)) {
    const start = at.map((n, d) => (n + (first[d] ?? 0)) * (window[d] ?? 1));
    const part = intersect(region, { start, shape: window });
    if (part) yield part;
  }
}
