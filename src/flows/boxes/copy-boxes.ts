import type { ZarrArray } from "../../hierarchy/node.ts";
import { type RegionTarget, writeBox } from "../../hierarchy/write/region.ts";
import { assertBudget } from "../../streams/budget-too-small.ts";
import type { BufferPool } from "../../streams/buffer-pool.ts";
import type { Region } from "../../streams/chunk.ts";
import { product } from "../../util/shape.ts";
import { readBox } from "./read-box.ts";
import { boxBytes, chunkFootprint, growWindow, windowsOf } from "./windows-of.ts";

export interface CopyBoxesOptions {
  readonly maxMemory: number;
  readonly concurrency: number;
  readonly writeEmpty: boolean;
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
  { maxMemory, concurrency, writeEmpty, buffers, onItems, signal }: CopyBoxesOptions,
): Promise<void> {
  const [target] = targets;
  if (target === undefined || product(region.shape) === 0) return;
  const [from, to] = await Promise.all([source.pipeline(), target.pipeline()]);
  const unit = target.metadata.chunkGrid.chunkShape;
  const ofChunk = boxBytes(unit, to);
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
    const data = await readBox(source, { start, shape: box.shape }, options);
    for (const one of targets) await writeBox(one, box, data, { ...options, writeEmpty });
    buffers.give(data.bytes);
    onItems(product(box.shape));
  }
}
