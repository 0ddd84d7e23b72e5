import { ENTRY_SIZE } from "../../codecs/array-to-bytes/sharding/entries.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { pooledSize } from "../../streams/buffer-pool.ts";
import type { ChunkSizes } from "../../streams/chunk-sizes.ts";
import { MAX_AT_ONCE, SHARDS_AHEAD } from "../../streams/locate-chunks.ts";
import { MIN_REMEMBERED, REMEMBERED_INDEXES } from "../../streams/shards.ts";
import { formatBytes } from "../../util/byte-size.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { MAX_TOGETHER } from "../../util/merge-ranges.ts";
import { product } from "../../util/shape.ts";
import type { SplitJob } from "./passes.ts";
import type { GridSide } from "./plan.ts";
import { headerSize, largestPiece } from "./scratch-layout.ts";

export type Sides = { readonly source: GridSide; readonly target: GridSide };

/** Sides of which only what lies in buffers is counted: not what codecs keep in memory of their own. */
export function inBuffers({ source, target }: Sides): Sides {
  const counted = (side: GridSide) => ({ ...side, scratchSize: side.pooledScratchSize });
  return { source: counted(source), target: counted(target) };
}

/** Bytes of a pooled buffer that a piece of an object of a pass takes, its header included. */
export function pieceBytes(job: SplitJob, pass: number): number {
  return pooledSize(
    headerSize(job, pass) + Math.ceil(product(largestPiece(job, pass)) * itemBytes(job.source)),
  );
}

/** Decoded bytes of an item; of variable data an estimate. */
export function itemBytes({ decodedSize, chunkShape }: Pick<GridSide, "decodedSize" | "chunkShape">): number {
  return decodedSize / Math.max(1, product(chunkShape));
}

const CHECKSUM_SIZE = 4;
/** Indexes that are held at least. */
const INDEXES_HELD = MIN_REMEMBERED + SHARDS_AHEAD;

/** Chunks of a shard along each dimension; undefined without shards. */
export function chunksPerShard({ chunkShape, shardShape }: GridSide): number[] | undefined {
  return shardShape?.map((n, d) => n / (chunkShape[d] ?? 1));
}

/** Bytes that an encoded shard may have. */
export function shardSize(side: GridSide): number {
  return product(chunksPerShard(side) ?? []) * (side.maxEncodedSize + ENTRY_SIZE) + CHECKSUM_SIZE;
}

/** Bytes that a shard takes while it is put together in memory: of the buffer, and of its index. */
export function collectedBytes(side: GridSide): number {
  return pooledSize(shardSize(side)) + product(chunksPerShard(side) ?? []) * ENTRY_SIZE;
}

/** Bytes of the indexes that are held at one time, of the shards that are read and of the one that is written. */
export function indexBytes({ source, target }: Sides): number {
  const sizeOf = (side: GridSide) => (side.shardShape ? ENTRY_SIZE * product(chunksPerShard(side) ?? []) : 0);
  const read = sizeOf(source);
  const shards = product(gridShape(source.shape, source.shardShape ?? source.shape));
  return Math.min(read * shards, Math.max(INDEXES_HELD * read, REMEMBERED_INDEXES)) + 3 * sizeOf(target);
}

/** Chunks that one request may read, where they lie in shards. */
export function chunksPerRequest({ maxEncodedSize }: Pick<ChunkSizes, "maxEncodedSize">, sharded: boolean) {
  if (!sharded) return 1;
  return Math.max(1, Math.min(MAX_AT_ONCE, Math.floor(MAX_TOGETHER / maxEncodedSize)));
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
export function assertBudget(
  needed: number,
  maxMemory: number,
  path: string,
  wayOut = "choose smaller chunks",
): void {
  if (needed <= maxMemory) return;
  throw new ZarrflowError("budget-too-small", "no plan fits the memory budget", {
    path,
    expected: `a budget of at least ${needed} bytes (${formatBytes(needed)})`,
    found: `${maxMemory} bytes`,
    hint:
      maxMemory < MIN_PLAUSIBLE
        ? `Sizes without a unit are bytes. Did you mean ${maxMemory}MB?`
        : `Allow at least ${formatBytes(needed)}, or ${wayOut}.`,
  });
}
