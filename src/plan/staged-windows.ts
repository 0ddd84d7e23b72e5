import { pooledSize } from "../streams/buffer-pool.ts";
import { chunksPerShard, type Region } from "../streams/chunk.ts";
import { type Axis, axesOver, intersect } from "../streams/selection.ts";
import { product } from "../util/shape.ts";
import { fitWindows } from "./direct-windows.ts";
import {
  bytesInFlight,
  bytesPerItem,
  chunksInFlight,
  decodedInFlight,
  inBuffers,
  indexBytes,
} from "./memory.ts";
import type { ScratchPass } from "./plan.ts";
import {
  boxGrid,
  boxOf,
  boxRegion,
  countBoxes,
  longestBox,
  type Split,
  type SplitJob,
  splitsOf,
} from "./task.ts";
import { searchWindow, windowSizes } from "./window-search.ts";
import { chunkVisits, readAheadWithin, type WindowRequest, type Windows } from "./windows.ts";

/** A way in which the staged strategy splits an array. */
export interface StagedWindows {
  readonly windows: Windows;
  readonly passes: readonly Omit<ScratchPass, "firstTask">[];
  /** Pieces that all tasks together read from scratch objects. */
  readonly pieces: number;
  /** Maximum bytes of existing scratch objects. */
  readonly scratchBytes: number;
}

export interface StagedRequest extends WindowRequest {
  /** Maximum decoded bytes of a scratch object or window, unless a single chunk is larger. */
  readonly volume: number;
  readonly isVariable: boolean;
}

/** Number of iterations that fit boxes and windows to each other. */
const FITTINGS = 2;
/** Maximum number of passes through scratch objects. */
const MAX_PASSES = 4;
/** Maximum number of pieces in flight within a task. */
const PIECES_AHEAD = 8;
/** Assumed memory of a piece in flight during the search for windows, before the size of pieces is known. */
const SMALLEST_BUFFER = pooledSize(1);
/** Small source chunks are combined into objects of at least this many bytes. */
const WANTED_OBJECT_BYTES = 4 * 2 ** 20;
/** Copies of a variable-length piece in memory: as received, merged, and collected. */
const VARIABLE_COPIES = 3;

/**
 * Yields boxes of source chunks and windows of target chunks within a volume, chosen to share the fewest, and so
 * largest, pieces. With several passes, the shapes of intermediate boxes are between these two. Yields one result
 * for each number of passes whose tasks fit the budget.
 */
export function* stagedWindows(request: StagedRequest): Generator<StagedWindows> {
  const { sides, selection, volume } = request;
  if (product(selection.shape) === 0) return;
  const smallest = { waiting: SMALLEST_BUFFER, working: 0 };
  const scattered = { inFlight: smallest, expected: smallest, windowBytes: volume };
  const windowsFor = (box: readonly number[]) =>
    fitWindows(request, { ...scattered, dimensions: dimensionsOf(request, box) });
  let box: readonly number[] = sides.source.chunkShape;
  let windows = windowsFor(box);
  for (let i = 0; i < FITTINGS; i++) {
    box = fitBox(request, itemsOf(request, windows));
    windows = windowsFor(box);
  }
  for (let count = 1; count <= MAX_PASSES; count++) {
    const boxes = [box, ...boxesBetween(request, box, itemsOf(request, windows), count)];
    const passes = boxes.map((shape) => ({ box: shape }));
    const planned = planPasses(request, windows, { ...sides, selection, ...windows, passes });
    if (planned) yield planned;
  }
}

/** @returns undefined if a task does not fit the budget. */
function planPasses(request: StagedRequest, windows: Windows, job: SplitJob): StagedWindows | undefined {
  const { sides, maxMemory, concurrency } = request;
  const numbers = (job.passes ?? []).map((_, pass) => pass);
  const passes = numbers.map((pass) => planPass(request, job, pass));
  const piece = pieceFootprint(job, numbers.length - 1);
  const parts = 2 * pooledSize(Math.min(piece, sides.target.decodedSize));
  const others = windows.leaseBytes - windows.readAhead * SMALLEST_BUFFER + parts;
  const readAhead = Math.min(PIECES_AHEAD, concurrency, Math.floor((maxMemory - others) / piece));
  const leaseBytes = others + readAhead * piece;
  const expectedBytes = windows.expectedBytes + parts + readAhead * piece;
  if (
    [...passes, { readAhead, leaseBytes }].some((task) => task.readAhead < 1 || task.leaseBytes > maxMemory)
  ) {
    return undefined;
  }
  const chunks = dimensionsOf(request, sides.source.chunkShape);
  const sizes = numbers.map((pass) => product(boxGrid(splitsOf(job, pass))) * objectBytes(job, pass));
  const chunksRead = product(chunks.map((dimension) => chunkVisits(dimension, Math.max(1, dimension.count))));
  return {
    windows: { ...windows, readAhead, leaseBytes, expectedBytes, chunksRead },
    passes,
    pieces: numbers.reduce((sum, pass) => sum + countPieces(job, pass), 0),
    scratchBytes: sizes.reduce((most, size, i) => Math.max(most, size + (sizes[i + 1] ?? 0)), 0),
  };
}

/**
 * The selection over boxes of source items. A cyclic selection is treated as if the source continued past its end.
 */
function dimensionsOf({ selection, sides }: StagedRequest, box: readonly number[]): Axis[] {
  const aligned = sides.source.shardShape ?? sides.source.chunkShape;
  const start = selection.start.map((from, d) => from % (aligned[d] ?? 1));
  return axesOver({ start, step: selection.step, shape: selection.shape }, box);
}

/** Shape in items of the windows, or of their steps. */
function itemsOf({ sides: { target } }: StagedRequest, { window, step = window }: Windows): number[] {
  return target.chunkShape.map((n, d) => Math.min(n * (step[d] ?? 1), target.shape[d] ?? 1));
}

/**
 * Fits a box of source chunks, in source items, to windows of a given shape. Uses whole shards if they are small
 * enough.
 */
function fitBox(request: StagedRequest, window: readonly number[]): number[] {
  const { sides, volume } = request;
  const { source } = sides;
  const chunks = dimensionsOf(request, source.chunkShape);
  const grid = chunks.map(({ start, step, count, sourceChunk }) =>
    Math.max(1, Math.ceil((start + step * (count - 1) + 1) / sourceChunk)),
  );
  const chunkBytes = bytesPerItem(source) * product(chunks.map((d) => Math.ceil(d.sourceChunk / d.step)));
  const maxChunks = Math.max(1, Math.floor(volume / Math.max(1, chunkBytes)));
  const inShard = chunksPerShard(source);
  const unit = inShard && product(inShard) <= maxChunks ? inShard : grid.map(() => 1);
  const { shape } = searchWindow({
    dimensions: chunks.map(({ step, sourceChunk }, d) => ({
      start: 0,
      step: 1,
      count: (grid[d] ?? 1) * sourceChunk,
      sourceChunk: (window[d] ?? 1) * step,
    })),
    chunkShape: source.chunkShape,
    grid,
    sizes: grid.map((n, d) => {
      const each = unit[d] ?? 1;
      const sizes = windowSizes(Math.ceil(n / each), each * (source.chunkShape[d] ?? 1), window[d] ?? 1);
      return sizes.map((size) => size * each);
    }),
    maxChunks,
    wantedChunks: Math.ceil(WANTED_OBJECT_BYTES / Math.max(1, chunkBytes)),
  });
  return shape.map((n, d) => n * (source.chunkShape[d] ?? 1));
}

/** Interpolates geometrically between the shapes of source boxes and windows. */
function boxesBetween(
  { selection }: StagedRequest,
  box: readonly number[],
  window: readonly number[],
  passCount: number,
): number[][] {
  return Array.from({ length: passCount - 1 }, (_, i) => {
    const way = (i + 1) / passCount;
    return selection.shape.map((length, d) => {
      const from = Math.max(1, Math.min(length, (box[d] ?? 1) / (selection.step[d] ?? 1)));
      const size = Math.round(from ** (1 - way) * Math.max(1, window[d] ?? 1) ** way);
      return Math.max(1, Math.min(size, length));
    });
  });
}

function planPass(request: StagedRequest, job: SplitJob, pass: number): Omit<ScratchPass, "firstTask"> {
  const { sides, maxMemory, concurrency, isVariable } = request;
  const object = pooledSize(objectBytes(job, pass)) * (isVariable ? VARIABLE_COPIES : 1);
  const held = object + (pass === 0 ? indexBytes(sides) : 0);
  const ofPieces = { waiting: pass === 0 ? 0 : pieceFootprint(job, pass - 1), working: 0 };
  const inFlight = pass === 0 ? decodedInFlight(sides.source) : ofPieces;
  const expected = pass === 0 ? decodedInFlight(inBuffers(sides).source) : ofPieces;
  const readAhead =
    pass === 0
      ? readAheadWithin(request, inFlight, maxMemory - held)
      : Math.min(PIECES_AHEAD, concurrency, chunksInFlight(inFlight, maxMemory - held));
  return {
    box: job.passes?.[pass]?.box ?? [],
    readAhead,
    tasks: product(boxGrid(splitsOf(job, pass))),
    leaseBytes: held + bytesInFlight(inFlight, readAhead),
    expectedBytes: held + bytesInFlight(expected, readAhead),
  };
}

/** Bytes of the largest object of a pass. */
function objectBytes(job: SplitJob, pass: number): number {
  const splits = splitsOf(job, pass);
  const next = splitsOf(job, pass + 1);
  const pieces = splits.map((split, d) => {
    const splitNext = next[d];
    if (splitNext === undefined) return 1;
    return Math.min(
      countBoxes(splitNext),
      Math.floor((longestBox(split) + splitNext.size - 2) / splitNext.size) + 1,
    );
  });
  const items = product(splits.map(longestBox));
  return (
    Math.ceil(items * bytesPerItem(job.source)) + product(pieces) * (headerSize(job, pass) + PIECE_OVERHEAD)
  );
}

/** Bytes of a piece's table entry. */
const PIECE_OVERHEAD = 8;

/** Number of pieces in a pass's objects. Each is read by one task of the next stage. */
function countPieces(job: SplitJob, pass: number): number {
  const next = splitsOf(job, pass + 1);
  return product(
    splitsOf(job, pass).map(({ start, step, size, length }, d) =>
      chunkVisits({ start, step, count: length, sourceChunk: size }, next[d]?.size ?? 1),
    ),
  );
}

/**
 * A piece of a scratch object: the items that the object's box shares with one box of the next stage. Pieces are
 * stored in C order of those boxes, each with a header followed by its items in C order.
 */
export interface Piece {
  readonly region: Region;
  /** Index among the pieces of the object. */
  readonly ordinal: number;
  /** Number of items in the pieces before it. */
  readonly itemsBefore: number;
}

/** The boxes that contain any item of a non-empty region, as a box of coords. */
export function boxesTouching(region: Region, splits: readonly Split[]): Region {
  const start = splits.map((split, d) => boxOf(split, region.start[d] ?? 0));
  const last = splits.map((split, d) => boxOf(split, (region.start[d] ?? 0) + (region.shape[d] ?? 0) - 1));
  return { start, shape: last.map((box, d) => box - (start[d] ?? 0) + 1) };
}

/** Returns the piece of an object of `box` in the next stage's box at `coords`; undefined if they share no item. */
export function pieceOf(box: Region, next: readonly Split[], coords: readonly number[]): Piece | undefined {
  const region = intersect(box, boxRegion(next, coords));
  if (region === undefined) return undefined;
  const boxes = boxesTouching(box, next);
  const rank = coords.length;
  let ordinal = 0;
  let itemsBefore = 0;
  // Items before the piece along dimension d have its shape in earlier dimensions, and the whole box's in later
  // ones.
  let inFront = 1;
  let behind = product(box.shape);
  for (let d = 0; d < rank; d++) {
    behind /= box.shape[d] ?? 1;
    ordinal = ordinal * (boxes.shape[d] ?? 1) + (coords[d] ?? 0) - (boxes.start[d] ?? 0);
    itemsBefore += inFront * ((region.start[d] ?? 0) - (box.start[d] ?? 0)) * behind;
    inFront *= region.shape[d] ?? 1;
  }
  return { region, ordinal, itemsBefore };
}

/** Shape of the largest piece in the objects of a pass. */
export function largestPiece(job: SplitJob, pass: number): number[] {
  const next = splitsOf(job, pass + 1);
  return splitsOf(job, pass).map((split, d) => {
    const splitNext = next[d];
    return Math.min(longestBox(split), splitNext ? longestBox(splitNext) : 1);
  });
}

/**
 * Bytes of a piece's header: a byte that tells if the piece has no data, only data or some, and a bit for each
 * target chunk that it may touch.
 */
export function headerSize(job: SplitJob, pass: number): number {
  const { chunkShape, shape } = job.target;
  const touched = largestPiece(job, pass).map((length, d) => {
    const chunk = chunkShape[d] ?? 1;
    return Math.min(Math.ceil((shape[d] ?? 1) / chunk), Math.floor((length + chunk - 2) / chunk) + 1);
  });
  return 8 * Math.ceil((1 + Math.ceil(product(touched) / 8)) / 8);
}

/** Bytes of a pooled buffer for a piece of a pass's object, with its header. */
export function pieceFootprint(job: SplitJob, pass: number): number {
  return pooledSize(
    headerSize(job, pass) + Math.ceil(product(largestPiece(job, pass)) * bytesPerItem(job.source)),
  );
}
