import type { CodecPipeline } from "../codecs/codec.ts";
import type { ZarrArray } from "../hierarchy/node.ts";
import { type RegionTarget, writeBox } from "../hierarchy/write/region.ts";
import { assertBudget } from "../streams/budget-too-small.ts";
import { type BufferPool, pooledSize } from "../streams/buffer-pool.ts";
import type { Region } from "../streams/chunk.ts";
import { readItems } from "../streams/read-chunks.ts";
import { intersect, selectionOf } from "../streams/selection.ts";
import { coordsOf, product } from "../util/shape.ts";

export interface CopyBoxesOptions {
  readonly maxMemory: number;
  readonly concurrency: number;
  readonly writeEmptyChunks: boolean;
  readonly buffers: BufferPool;
  /** Called with the number of items just copied. */
  readonly onItems: (items: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a region to targets that share one grid, in windows of whole target chunks. Each source item is read once for
 * all targets. Chunks that the region covers only in part are read first, and keep their other items.
 *
 * @param shift items of the target before the first of the source, along each dimension
 * @throws `budget-too-small` if not even one target chunk fits
 */
export async function copyBoxes(
  { source, path }: { readonly source: ZarrArray; readonly path: string },
  targets: readonly RegionTarget[],
  { region, shift }: { readonly region: Region; readonly shift: readonly number[] },
  { maxMemory, concurrency, writeEmptyChunks, buffers, onItems, signal }: CopyBoxesOptions,
): Promise<void> {
  const [target] = targets;
  if (target === undefined || product(region.shape) === 0) return;
  const [from, to] = await Promise.all([source.pipeline(), target.pipeline()]);
  const unit = target.metadata.chunkGrid.chunkShape;
  const ofChunk = pooledSize(to.decodedSize);
  // two decoded copies exist while a chunk that the region covers in part is rewritten
  const perChunk = chunkFootprint(from) + chunkFootprint(to) + ofChunk;
  assertBudget(perChunk + ofChunk, maxMemory, path);
  const atOnce = Math.max(1, Math.min(concurrency, Math.floor(maxMemory / 2 / perChunk)));
  const perItem = ofChunk / Math.max(1, product(unit));
  // pooled buffers are rounded up by at most a quarter
  const most = Math.floor((maxMemory - atOnce * perChunk) / perItem / 1.25);
  const options = { concurrency: atOnce, buffers, signal };
  for (const box of windowsOf(region, growWindow(unit, region.shape, most))) {
    const start = box.start.map((at, d) => at - (shift[d] ?? 0));
    const data = await readItems(source, selectionOf({ start, shape: box.shape }), options);
    for (const one of targets) await writeBox(one, box, data, { ...options, writeEmptyChunks });
    buffers.give(data.bytes);
    onItems(product(box.shape));
  }
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
