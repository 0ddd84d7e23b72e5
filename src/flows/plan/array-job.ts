import { chunkSpecOf } from "../../codecs/chunk-spec.ts";
import type { CodecPipeline } from "../../codecs/codec.ts";
import { createPipeline } from "../../codecs/pipeline.ts";
import {
  type ArrayMetadata,
  type CodecConfig,
  type DialectName,
  gridShape,
} from "../../meta/array-metadata.ts";
import { isFixed, sameDataType } from "../../meta/data-type.ts";
import { describeCodec, describeDataType } from "../../meta/describe.ts";
import { pooledParts, pooledSize } from "../../streams/buffer-pool.ts";
import type { Selection } from "../../streams/selection.ts";
import { formatBytes } from "../../util/byte-size.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { jsonEqual } from "../../util/json-equal.ts";
import { product } from "../../util/shape.ts";
import type { Dimension } from "./chunk-visits.ts";
import type { Alternative, ArrayJob, GridSide, Strategy } from "./plan.ts";
import { searchWindow } from "./window-search.ts";

/** An array of the source or the target, as far as planning needs it. */
export interface PlannedArray {
  readonly path: string;
  readonly dialect: DialectName;
  readonly metadata: ArrayMetadata;
}

export interface JobRequest {
  readonly source: PlannedArray;
  readonly target: PlannedArray;
  readonly selection: Selection;
  readonly maxMemory: number;
  readonly io: number;
  /** Whether a sweep copies the keys of verbatim arrays, so that these have no tasks. */
  readonly swept: boolean;
}

/** A task of tiny chunks takes so many that they come to this many decoded bytes. */
const WANTED_TASK_BYTES = 4 * 2 ** 20;

/** How one array will be moved, before its tasks are given their size. */
export interface JobChoice {
  readonly strategy: Strategy;
  readonly notTaken: readonly Alternative[];
  readonly sides: Sides;
  /** The smallest budget within which it can be done. */
  readonly leastBytes: number;
}

/**
 * Chooses the cheapest strategy for one array.
 *
 * @throws `unsupported-codec` when chunks must be decoded and cannot be, with the array's path.
 */
export async function chooseJob(request: JobRequest): Promise<JobChoice> {
  try {
    const choice = await chooseStrategy(request);
    return { ...choice, leastBytes: leastBytes(request, choice) };
  } catch (error) {
    if (isZarrflowError(error)) error.addContext({ path: request.source.path });
    throw error;
  }
}

/** The job of a choice that fits the budget, its tasks as large as serves and the budget lets them. */
export function jobOfChoice(
  request: JobRequest,
  { strategy, notTaken, sides }: JobChoice,
  firstTask: number,
): ArrayJob {
  const { metadata } = request.target;
  const { chunkShape } = metadata.chunkGrid;
  const shaped =
    strategy === "direct" ? directWindows(request, sides) : sameGridWindows(request, sides, strategy);
  const grid = gridShape(metadata.shape, chunkShape);
  return {
    path: request.source.path,
    targetPath: request.target.path,
    dataType: describeDataType(metadata.dataType),
    ...(metadata.dimensionNames && { dimensionNames: metadata.dimensionNames }),
    strategy,
    ...sides,
    selection: request.selection,
    ...shaped,
    firstTask,
    tasks: strategy === "verbatim" && request.swept ? 0 : product(gridShape(grid, shaped.window)),
    chunksWritten: product(grid),
    notTaken,
  };
}

function gridSide({ dialect, metadata }: PlannedArray, sizes: ChunkSizes): GridSide {
  const { decodedSize, maxEncodedSize, scratchSize } = sizes;
  return {
    dialect,
    chunkKeyEncoding: metadata.chunkKeyEncoding,
    shape: metadata.shape,
    chunkShape: metadata.chunkGrid.chunkShape,
    codecs: metadata.codecs.map(describeCodec),
    decodedSize,
    maxEncodedSize,
    scratchSize,
  };
}

type ChunkSizes = Pick<GridSide, "decodedSize" | "maxEncodedSize" | "scratchSize">;

/** What stored chunks may weigh that nobody decodes: their codecs need not be known. */
function storedSizes({ chunkGrid, dataType }: ArrayMetadata): ChunkSizes {
  const decodedSize =
    product(chunkGrid.chunkShape) * (isFixed(dataType) ? dataType.size : VARIABLE_ITEM_BYTES);
  return { decodedSize, maxEncodedSize: Math.ceil(decodedSize * 1.05) + 1024, scratchSize: 0 };
}

/** A guess at an item of varying size. */
const VARIABLE_ITEM_BYTES = 32;

/** Same grid and codecs: bytes pass untouched. Same grid: chunk by chunk. Else through windows. */
async function chooseStrategy(request: JobRequest): Promise<Omit<JobChoice, "leastBytes">> {
  const { source, target } = request;
  const otherGrid = whyNotSameGrid(request);
  const notVerbatim = otherGrid ?? whyNotSameCoding(source.metadata, target.metadata);
  if (notVerbatim === undefined) {
    const sizes = storedSizes(source.metadata);
    const sides = { source: gridSide(source, sizes), target: gridSide(target, sizes) };
    return { strategy: "verbatim", notTaken: [], sides };
  }
  const from = await createPipeline(source.metadata.codecs, chunkSpecOf(source.metadata));
  const to = await targetPipeline(request);
  const sides = { source: gridSide(source, from), target: gridSide(target, to) };
  const notTaken: Alternative[] = [{ strategy: "verbatim", reason: notVerbatim }];
  const notTranscode = otherGrid ?? whyNotSameLayout(from, to);
  if (notTranscode === undefined) return { strategy: "transcode", notTaken, sides };
  notTaken.push({ strategy: "transcode", reason: notTranscode });
  return { strategy: "direct", notTaken, sides };
}

/** @throws `invalid-option` for a codec that was asked for and cannot be made. */
async function targetPipeline({ source, target }: JobRequest): Promise<CodecPipeline> {
  try {
    return await createPipeline(target.metadata.codecs, chunkSpecOf(target.metadata));
  } catch (error) {
    const asked = target.metadata.codecs !== source.metadata.codecs;
    if (!asked || !isZarrflowError(error, "invalid-metadata")) throw error;
    throw new ZarrflowError("invalid-option", error.reason, error.details, { cause: error });
  }
}

function whyNotSameGrid({ source, target, selection }: JobRequest): string | undefined {
  const { shape } = source.metadata;
  if (
    selection.start.some((n) => n !== 0) ||
    selection.step.some((n) => n !== 1) ||
    !same(selection.shape, shape)
  ) {
    return "only a part of the array is selected";
  }
  const from = source.metadata.chunkGrid;
  const to = target.metadata.chunkGrid;
  if (!same(from.chunkShape, to.chunkShape)) return "the chunk shapes differ";
  if (!same(from.innerChunkShape ?? [], to.innerChunkShape ?? [])) return "the inner chunk shapes differ";
  return undefined;
}

function whyNotSameCoding(from: ArrayMetadata, to: ArrayMetadata): string | undefined {
  if (!sameDataType(from.dataType, to.dataType)) return "the data types differ";
  if (!same(from.fillValue.bytes ?? [], to.fillValue.bytes ?? [])) return "the fill values differ";
  const bare = (codecs: readonly CodecConfig[]) =>
    codecs.map(({ name, configuration }) => [name, configuration]);
  return jsonEqual(bare(from.codecs), bare(to.codecs)) ? undefined : "the codecs differ";
}

function whyNotSameLayout(from: CodecPipeline, to: CodecPipeline): string | undefined {
  return same(from.strides, to.strides) ? undefined : "the order of items within chunks differs";
}

function same(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  return a.length === b.length && Array.prototype.every.call(a, (n, i) => n === b[i]);
}

type Sides = { readonly source: GridSide; readonly target: GridSide };
type Windows = Pick<ArrayJob, "window" | "readAhead" | "taskBytes" | "chunksRead">;

/** Runs of chunks, each handled by itself: only the chunks in flight take memory. */
function sameGridWindows(request: JobRequest, { source, target }: Sides, strategy: Strategy): Windows {
  const { maxMemory, io } = request;
  const perChunk = inFlightBytes({ source, target }, strategy);
  const grid = gridShape(target.shape, target.chunkShape);
  const readAhead = Math.max(1, Math.min(io, Math.floor(maxMemory / 4 / perChunk)));
  const wanted = Math.max(readAhead, Math.ceil(WANTED_TASK_BYTES / Math.max(1, target.decodedSize)));
  return {
    window: runOfChunks(grid, wanted),
    readAhead,
    taskBytes: readAhead * perChunk,
    chunksRead: product(grid),
  };
}

/** Windows of whole target chunks that are held decoded while source chunks are scattered into them. */
function directWindows(request: JobRequest, { source, target }: Sides): Windows {
  const { selection, maxMemory, io } = request;
  const perSource = inFlightBytes({ source, target }, "direct");
  const perTarget = windowBytesPerChunk(target);
  const encoding = encodingBytes(target);
  const spare = maxMemory - encoding - perTarget;
  const readAhead = Math.max(
    1,
    Math.min(io, Math.floor(maxMemory / 4 / perSource), Math.floor(spare / perSource)),
  );
  const fixed = encoding + readAhead * perSource;
  const dimensions = selection.shape.map(
    (count, d): Dimension => ({
      start: selection.start[d] ?? 0,
      step: selection.step[d] ?? 1,
      count,
      sourceChunk: source.chunkShape[d] ?? 1,
    }),
  );
  const { shape, visits } = searchWindow({
    dimensions,
    chunkShape: target.chunkShape,
    grid: gridShape(target.shape, target.chunkShape),
    maxChunks: Math.max(1, Math.floor((maxMemory - fixed) / perTarget)),
    wantedChunks: Math.ceil(WANTED_TASK_BYTES / Math.max(1, target.decodedSize)),
  });
  return { window: shape, readAhead, taskBytes: fixed + product(shape) * perTarget, chunksRead: visits };
}

/** One chunk at a time; what the sweep copies goes in pieces of any size. */
function leastBytes(
  { swept }: JobRequest,
  { strategy, sides }: Pick<JobChoice, "strategy" | "sides">,
): number {
  if (strategy === "verbatim" && swept) return pooledSize(1);
  const window = strategy === "direct" ? windowBytesPerChunk(sides.target) + encodingBytes(sides.target) : 0;
  return inFlightBytes(sides, strategy) + window;
}

/** Bytes of pooled buffers that one target chunk of a window holds, decoded or encoded. */
function windowBytesPerChunk({ decodedSize, maxEncodedSize }: ChunkSizes): number {
  return pooledSize(Math.max(decodedSize, maxEncodedSize));
}

/** Bytes of pooled buffers that encoding takes besides what it encodes. */
function encodingBytes(sizes: ChunkSizes): number {
  return pooledSize(sizes.maxEncodedSize) + pooledScratch(sizes);
}

/** Bytes of pooled buffers that one source chunk may hold between its read and its release. */
export function inFlightBytes({ source, target }: Sides, strategy: Strategy): number {
  if (strategy === "verbatim") return pooledSize(source.maxEncodedSize);
  return strategy === "direct" ? codingBytes(source) : Math.max(codingBytes(source), codingBytes(target));
}

/** Bytes of pooled buffers that decoding or encoding one chunk takes. */
export function codingBytes(sizes: ChunkSizes): number {
  return pooledSize(sizes.decodedSize) + encodingBytes(sizes);
}

/** Between two codecs of a chain there are at most two buffers. */
function pooledScratch({ scratchSize }: ChunkSizes): number {
  return pooledParts(scratchSize, 2);
}

/** Chunks of a grid in C order, as a box of at most `wanted` (but at least one). */
function runOfChunks(grid: readonly number[], wanted: number): number[] {
  const box = grid.map(() => 1);
  let left = wanted;
  for (let d = grid.length - 1; d >= 0 && left > 1; d--) {
    box[d] = Math.max(1, Math.min(grid[d] ?? 1, left));
    left = Math.floor(left / (box[d] ?? 1));
  }
  return box;
}

/** @throws `budget-too-small` naming the smallest budget that works. */
export function demandBudget(needed: number, maxMemory: number, path: string): void {
  if (needed <= maxMemory) return;
  throw new ZarrflowError("budget-too-small", "no plan fits the memory budget", {
    path,
    expected: `a budget of at least ${needed} bytes (${formatBytes(needed)})`,
    found: `${maxMemory} bytes`,
    hint: `allow at least ${formatBytes(needed)}, or choose smaller chunks`,
  });
}
