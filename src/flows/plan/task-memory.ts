import { writtenIndexFootprint } from "../../streams/shard-output.ts";
import { indexFootprint } from "../../streams/shards.ts";
import { formatBytes, formatEnoughBytes } from "../../util/byte-size.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import type { GridSide } from "./plan.ts";

export type Sides = { readonly source: GridSide; readonly target: GridSide };

/** Sides of which only what lies in buffers is counted: not what codecs keep in memory of their own. */
export function inBuffers({ source, target }: Sides): Sides {
  const counted = (side: GridSide) => ({ ...side, scratchSize: side.pooledScratchSize });
  return { source: counted(source), target: counted(target) };
}

/** Decoded bytes of an item; of variable data an estimate. */
export function itemBytes({ decodedSize, chunkShape }: Pick<GridSide, "decodedSize" | "chunkShape">): number {
  return decodedSize / Math.max(1, product(chunkShape));
}

/** Bytes of the indexes that a task holds at one time, of the shards that are read and of the one that is written. */
export function indexBytes({ source, target }: Sides): number {
  return indexFootprint(source) + writtenIndexFootprint(target);
}

/** The advice to choose smaller chunks, with the dimension along which chunks grow the most. */
export function smallerChunks(
  { source, target }: Sides,
  dimensionNames: readonly (string | null)[] | undefined,
): string {
  const growth = target.chunkShape.map((size, d) => size / (source.chunkShape[d] ?? 1));
  const largest = Math.max(...growth);
  if (!(largest > 1)) return "choose smaller chunks";
  const d = growth.indexOf(largest);
  const size = `${dimensionNames?.[d] ?? `dimension ${d}`}=${target.chunkShape[d]}`;
  return `choose smaller chunks: ${size} makes chunks of ${formatBytes(target.decodedSize)}`;
}

/** A budget of fewer bytes is taken for one whose unit was forgotten. */
const MIN_PLAUSIBLE = 1000;

/** @throws `budget-too-small` naming the smallest budget that works. */
export function assertBudget(needed: number, maxMemory: number, path: string, wayOut?: string): void {
  if (needed > maxMemory) throw budgetTooSmall(needed, maxMemory, path, wayOut);
}

/** The error of a budget that nothing fits, with the smallest that works. */
export function budgetTooSmall(
  needed: number,
  maxMemory: number,
  path: string,
  wayOut = "choose smaller chunks",
): ZarrflowError {
  return new ZarrflowError("budget-too-small", "no plan fits the memory budget", {
    path,
    neededBytes: needed,
    expected: `a budget of at least ${needed} bytes (${formatEnoughBytes(needed)})`,
    found: `${maxMemory} bytes`,
    hint:
      maxMemory < MIN_PLAUSIBLE
        ? `Sizes without a unit are bytes. Did you mean ${maxMemory}MB?`
        : `Allow at least ${formatEnoughBytes(needed)}, or ${wayOut}.`,
  });
}
