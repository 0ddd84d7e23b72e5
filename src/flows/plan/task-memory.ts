import { writtenIndexFootprint } from "../../streams/shard-output.ts";
import { indexFootprint } from "../../streams/shards.ts";
import { formatBytes } from "../../util/byte-size.ts";
import { product } from "../../util/shape.ts";
import type { GridSide } from "./plan.ts";

export type Sides = { readonly source: GridSide; readonly target: GridSide };

/** Sides that count only memory in pooled buffers, without the codecs' own memory. */
export function inBuffers({ source, target }: Sides): Sides {
  const counted = (side: GridSide) => ({ ...side, scratchSize: side.pooledScratchSize });
  return { source: counted(source), target: counted(target) };
}

/** Decoded bytes per item; an estimate for variable-length data. */
export function itemBytes({ decodedSize, chunkShape }: Pick<GridSide, "decodedSize" | "chunkShape">): number {
  return decodedSize / Math.max(1, product(chunkShape));
}

/** Bytes of the shard indexes that a task holds at a time: of the shards that it reads and the one that it writes. */
export function indexBytes({ source, target }: Sides): number {
  return indexFootprint(source) + writtenIndexFootprint(target);
}

/** Advice to choose smaller chunks, naming the dimension along which chunks grow most. */
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
