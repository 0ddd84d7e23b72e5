import type { CodecPipeline } from "../../codecs/codec.ts";
import type { Region } from "../../streams/chunk.ts";
import { pooledSize } from "../../streams/pooled-size.ts";
import { intersect } from "../../streams/selection.ts";
import { coordsOf, product } from "../../util/shape.ts";

/** Buffer bytes of a box of items; an estimate for items of varying size. */
export function boxBytes(
  shape: readonly number[],
  { spec, decodedSize }: Pick<CodecPipeline, "spec" | "decodedSize">,
): number {
  return pooledSize(Math.ceil((product(shape) * decodedSize) / Math.max(1, product(spec.shape))));
}

/** Bytes that one chunk takes, stored and decoded, on its way between a store and a box. */
export function chunkFootprint({ decodedSize, maxEncodedSize, scratchSize }: CodecPipeline): number {
  return pooledSize(decodedSize) + pooledSize(maxEncodedSize) + scratchSize;
}

/**
 * Grows a window from one unit until it covers `shape` or would exceed `most`, along the last dimension first.
 *
 * @param unit items along each dimension; windows are multiples of it
 * @param most item limit of a window
 */
export function growWindow(unit: readonly number[], shape: readonly number[], most: number): number[] {
  const window = [...unit];
  for (let d = unit.length - 1; d >= 0; d--) {
    const length = unit[d] ?? 1;
    // a region that is not aligned to units may touch one more
    const wanted = Math.ceil((shape[d] ?? 1) / length) + 1;
    window[d] = length * Math.max(1, Math.min(wanted, Math.floor(most / product(window))));
  }
  return window;
}

/** Splits a region into the windows of a grid that starts at the origin, in C order. */
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
