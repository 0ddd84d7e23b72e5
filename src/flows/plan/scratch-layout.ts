import type { Region } from "../../streams/chunk.ts";
import { pooledSize } from "../../streams/pooled-size.ts";
import { intersect } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";
import { boxRegion, type SplitJob, splitsOf } from "./passes.ts";
import { boxOf, longestBox, type Split } from "./splits.ts";
import { itemBytes } from "./task-memory.ts";

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
    headerSize(job, pass) + Math.ceil(product(largestPiece(job, pass)) * itemBytes(job.source)),
  );
}
