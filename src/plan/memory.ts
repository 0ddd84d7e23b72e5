import { type ArrayMetadata, type CodecConfig, gridShape, type ZarrFormat } from "../meta/array-metadata.ts";
import { costClassOf, decodesParts } from "../meta/codec-traits.ts";
import { buildMemory, MAX_S3_PARTS, readerMemory } from "../stores/store-traits.ts";
import { largestPooled, pooledSize } from "../streams/buffer-pool.ts";
import { type ChunkSizes, pooledScratch } from "../streams/chunk.ts";
import { readFootprint } from "../streams/chunk-reader.ts";
import { indexFootprint } from "../streams/shards.ts";
import { writtenIndexFootprint } from "../streams/write-chunks.ts";
import { toPlain } from "../util/json-value.ts";
import { product } from "../util/shape.ts";
import { formatBytes } from "../util/units.ts";
import type { GridSide, Plan, PlannedCodec } from "./plan.ts";

export type Sides = { readonly source: GridSide; readonly target: GridSide };

/** Bytes of a chunk, and of the memory of its codecs. */
export type SideSizes = ChunkSizes & Pick<GridSide, "pooledScratchSize">;

/** An array at the level of the chunks that are read or written. */
export interface SideArray {
  readonly zarrFormat: ZarrFormat;
  readonly metadata: ArrayMetadata;
  readonly chunkShape: readonly number[];
  readonly shardShape?: readonly number[] | undefined;
}

/** Describes one side of a job. */
export function gridSide(
  { zarrFormat, metadata, chunkShape, shardShape }: SideArray,
  { decodedSize, maxEncodedSize, scratchSize, pooledScratchSize }: SideSizes,
): GridSide {
  return {
    zarrFormat,
    chunkKeyEncoding: metadata.chunkKeyEncoding,
    shape: metadata.shape,
    chunkShape,
    ...(shardShape && { shardShape }),
    codecs: metadata.codecs.map(plannedCodec),
    ...(decodesParts(metadata.codecs) && { decodesParts: true }),
    decodedSize,
    maxEncodedSize,
    scratchSize,
    pooledScratchSize,
  };
}

function plannedCodec(codec: CodecConfig): PlannedCodec {
  const configuration = JSON.parse(JSON.stringify(toPlain(codec.configuration), withoutBigints));
  return { name: codec.name, configuration, costClass: costClassOf(codec) };
}

/** Converts bigints to numbers, as a plan is JSON. */
function withoutBigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

/** Sides that count only memory in pooled buffers, without the codecs' own memory. */
export function inBuffers({ source, target }: Sides): Sides {
  const counted = (side: GridSide) => ({ ...side, scratchSize: side.pooledScratchSize });
  return { source: counted(source), target: counted(target) };
}

/** Decoded bytes per item; an estimate for variable-length data. */
export function bytesPerItem({
  decodedSize,
  chunkShape,
}: Pick<GridSide, "decodedSize" | "chunkShape">): number {
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

/** Memory of source chunks between read and release, in bytes of pooled buffers. */
export interface InFlight {
  /** Memory of each chunk that is being read, waits, or is being written. */
  readonly waiting: number;
  /** Additional memory of a chunk that codecs are working on. */
  readonly working: number;
}

/** Maximum number of chunks being decoded or just decoded: each stage takes one chunk at a time and passes one on. */
const AT_WORK = 3;

/** Bytes of a number of chunks in flight. */
export function bytesInFlight({ waiting, working }: InFlight, chunks: number): number {
  return chunks * waiting + Math.min(chunks, AT_WORK) * working;
}

/** Maximum number of chunks in flight within a number of bytes. */
export function chunksInFlight({ waiting, working }: InFlight, bytes: number): number {
  const each = Math.floor(bytes / (waiting + working));
  return each < AT_WORK ? each : Math.floor((bytes - AT_WORK * working) / waiting);
}

/** Memory of source chunks that are read and decoded. */
export function decodedInFlight(
  sizes: ChunkSizes & { readonly shardShape?: readonly number[] | undefined },
): InFlight {
  return {
    waiting: readFootprint(sizes, sizes.shardShape !== undefined),
    working: pooledScratch(sizes) + pooledSize(sizes.decodedSize),
  };
}

/** The fraction of the budget that an open target may hold. */
const MAX_HELD = 1 / 8;

/**
 * Estimates the size of a target's values: all chunks of its arrays, decoded, which is rarely too low. It may be
 * far too high for an array of mostly fill values, so it is limited to an S3 upload whose parts fit the budget.
 */
export function expectedSize(sides: readonly { readonly target: GridSide }[], maxMemory: number): number {
  const chunks = ({ shape, chunkShape }: GridSide) => product(gridShape(shape, chunkShape));
  const decoded = sides.reduce((sum, { target }) => sum + chunks(target) * target.decodedSize, 0);
  return Math.min(decoded, maxMemory * MAX_HELD * MAX_S3_PARTS);
}

/** Bytes of the budget that both stores hold during the whole run, and tasks cannot use. */
export function storeReservedBytes(
  { source, target }: Pick<Plan, "source" | "target">,
  sides: Parameters<typeof expectedSize>[0],
  maxMemory: number,
): number {
  return readerMemory(source.store) + targetMemory(target, sides, maxMemory);
}

/** Bytes of the budget that a target holds during the whole run. */
export function targetMemory(
  target: Plan["target"],
  sides: Parameters<typeof expectedSize>[0],
  maxMemory: number,
): number {
  return buildMemory(target.store, expectedSize(sides, maxMemory), maxMemory * MAX_HELD);
}

/** Bytes of the budget that are left for tasks. */
export function memoryForTasks(plan: Pick<Plan, "source" | "target" | "jobs" | "budget">): number {
  const { maxMemory } = plan.budget;
  return maxMemory - storeReservedBytes(plan, plan.jobs, maxMemory);
}

/** Bytes that copying a value takes at a time. A value larger than a piece goes through a writer. */
export function copyMemory(size: number, pieceBytes: number, writerBytes: number): number {
  return pieceMemory(size, pieceBytes) + (size > pieceBytes ? writerBytes : 0);
}

/** Piece size for a budget, at least the smallest pooled buffer. */
export function pieceBytesWithin(maxMemory: number): number {
  return Math.min(PIECE_BYTES, Math.max(pooledSize(1), largestPooled(maxMemory)));
}

/** Bytes of the pooled buffer for reading a value of `size` bytes. */
export function pieceMemory(size: number, pieceBytes: number): number {
  return pooledSize(Math.min(size, pieceBytes));
}

/** Larger values are read in pieces of this size. */
export const PIECE_BYTES = 8 * 2 ** 20;
