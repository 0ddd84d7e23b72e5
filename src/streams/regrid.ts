import type { ChunkSpec } from "../codecs/codec.ts";
import { gridShape } from "../meta/array-metadata.ts";
import { isFixed } from "../meta/data-type.ts";
import { type Buffers, plainBuffers } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import { coordsOf, cStrides, indexOf, product } from "../util/shape.ts";
import type { TransformStream } from "../util/web-streams.ts";
import {
  type Assembly,
  addShared,
  FixedAssembly,
  type OpenBox,
  OpenChunks,
  VariableAssembly,
} from "./assemble.ts";
import { pooledSize } from "./buffer-pool.ts";
import type { ChunkSizes, DecodedChunk, Region } from "./chunk.ts";
import {
  chunkRegion,
  countShared,
  intersect,
  type Selection,
  selectedRegions,
  wholeSelection,
} from "./selection.ts";
import { type Stage, stageStream } from "./stage.ts";

/** The grid to cut chunks to. */
export interface RegridTarget {
  /** Shape of the whole target array. */
  readonly shape: readonly number[];
  /** Spec of a target chunk; `chunk.shape` is the full chunk shape. */
  readonly chunk: ChunkSpec;
  /** Layout of a target chunk, in items: the layout its codecs expect (`CodecPipeline.strides`); C order by default. */
  readonly strides?: readonly number[];
}

export interface RegridOptions {
  /** The part of the source that becomes the target; all of it by default. */
  readonly selection?: Selection | undefined;
  /** The part of the target to assemble, in whole chunks; items outside are ignored. All of the target by default. */
  readonly window?: Region | undefined;
  /**
   * The target's first dimension grows with its input. When the stream ends, the last chunks are padded with the fill
   * value.
   */
  readonly growing?: boolean | undefined;
  readonly buffers?: Buffers | undefined;
}

const REGRID_OPTIONS: OptionNames<RegridOptions> = {
  selection: true,
  window: true,
  growing: true,
  buffers: true,
};

/** Starts a target chunk that covers `region` of the array. Each item must be added once. */
export function beginAssembly(
  { chunk, strides = cStrides(chunk.shape) }: Pick<RegridTarget, "chunk" | "strides">,
  region: Region,
  { selection, buffers }: { readonly selection: Selection; readonly buffers: Buffers },
): Assembly {
  return isFixed(chunk.dataType)
    ? new FixedAssembly({ chunk, region, strides, selection, buffers })
    : new VariableAssembly({ chunk, region, selection, buffers });
}

/**
 * Rechunks chunks, or any boxes of items, to another grid. Scatters each piece into the target chunks that it touches,
 * gives its buffer back, and passes a target chunk on as soon as all of its items are there. It moves items without
 * looking at their values. Each source item must come exactly once.
 *
 * Memory: the target chunks that are started and not complete. To bound it, feed whole windows of target chunks.
 *
 * @throws `invalid-option` for a piece with another rank or other items than the target, and if target chunks lack
 *   items when the stream ends; `resource-limit` for a chunk of variable data above 2 GiB.
 */
export function regrid(
  target: RegridTarget,
  options: RegridOptions = {},
): TransformStream<DecodedChunk, DecodedChunk> {
  assertKnown(options, REGRID_OPTIONS);
  return stageStream(regridStage(target, options));
}

/** `regrid` without a stream around it; its methods never wait. */
export interface RegridStage extends Stage<DecodedChunk, DecodedChunk> {
  /**
   * Scatters a piece and gives its buffer back.
   *
   * @returns the target chunks that this piece completes.
   */
  push(piece: DecodedChunk): DecodedChunk[];
  /** @returns the last target chunks, cut where the pieces end; none unless the target grows. */
  end(): DecodedChunk[];
}

/** An incomplete target chunk, with the items so far in place. */
export type GrowingChunk = Pick<DecodedChunk, "coords" | "region" | "data">;

/** Called when an incomplete chunk has received its share of the target's `items`. */
export type OnGrowth = (chunk: GrowingChunk, items: Region) => void;

export interface RegridStageOptions extends RegridOptions {
  /** `data` is undefined while only missing items have come, and for variable data. */
  readonly onGrowth?: OnGrowth | undefined;
}

export function regridStage(
  target: RegridTarget,
  { growing = false, window, buffers = plainBuffers, onGrowth, ...options }: RegridStageOptions = {},
): RegridStage {
  const { chunk } = target;
  const shape = growing ? target.shape.with(0, Number.MAX_SAFE_INTEGER) : target.shape;
  const selection = options.selection ?? wholeSelection(shape);
  const grid = gridShape(shape, chunk.shape);
  const open = new Map<number, OpenChunk>();
  let index = 0;
  let length = 0;

  /** The boxes that the last piece touched. Reset when one of them is complete and its buffer is passed on. */
  let touched: OpenChunks<OpenChunk> | undefined;

  const chunkAt = (coords: readonly number[]): OpenChunk => {
    const place = indexOf(coords, grid);
    const known = open.get(place);
    if (known) return known;
    const region = chunkRegion(coords, chunk.shape, shape);
    const assembly = beginAssembly(target, region, { selection, buffers });
    const begun = { place, coords, region, assembly, missing: product(region.shape) };
    open.set(place, begun);
    return begun;
  };

  const finish = ({ place, coords, assembly }: OpenChunk, region: Region): DecodedChunk => {
    open.delete(place);
    return { index: index++, coords, region, data: assembly.finish() };
  };

  /** @returns the chunks that the piece completes. */
  const addToAll = (piece: DecodedChunk, items: Region): DecodedChunk[] => {
    const coords = chunksTouched(items, chunk.shape);
    if (!touched?.areAt(coords)) touched = new OpenChunks(coords, [...coordsIn(coords)].map(chunkAt));
    const isAdded = touched.addSync(piece, items, selection);
    const wholes: DecodedChunk[] = [];
    for (const box of touched.boxes) {
      box.missing -= isAdded ? countShared(box.region, items) : addShared(box, piece, items);
      if (box.missing <= 0) wholes.push(finish(box, box.region));
      else onGrowth?.({ coords: box.coords, region: box.region, data: box.assembly.begun }, items);
    }
    if (wholes.length > 0) touched = undefined;
    return wholes;
  };

  return {
    push(piece) {
      assertPiece(piece, shape.length);
      const wholes: DecodedChunk[] = [];
      for (const selected of selectedRegions(selection, piece.region)) {
        const covered = window ? intersect(selected, window) : selected;
        if (covered === undefined) continue;
        length = Math.max(length, (covered.start[0] ?? 0) + (covered.shape[0] ?? 0));
        wholes.push(...addToAll(piece, covered));
      }
      if (piece.data) buffers.give(piece.data.bytes);
      piece.release?.();
      return wholes;
    },
    end() {
      const wholes: DecodedChunk[] = [];
      for (const part of growing ? open.values() : []) {
        const region = cutAt(length, part);
        if (region) wholes.push(finish(part, region));
      }
      const [first] = open.values();
      if (first === undefined) return wholes;
      throw new ZarrflowError("invalid-option", `${open.size} target chunks are incomplete`, {
        coords: first.coords,
        hint: "Pass every source chunk of these target chunks to regrid exactly once.",
      });
    },
  };
}

function assertPiece({ coords, data, region }: DecodedChunk, rank: number): void {
  const holds = data?.shape ?? region.shape;
  if (region.shape.length === rank && region.shape.every((n, d) => n <= (holds[d] ?? 0))) return;
  throw new ZarrflowError("invalid-option", "the data of the chunk does not match its region", {
    coords,
    expected: `a region of rank ${rank} within its data`,
    found: `region ${region.shape.join(" x ")}, data ${holds.join(" x ")}`,
  });
}

/** A target chunk that lacks items. */
interface OpenChunk extends OpenBox {
  /** Index in C order of the grid. */
  readonly place: number;
  readonly coords: readonly number[];
  /** Items still to come. */
  missing: number;
}

/**
 * Ends a chunk at `length` items along the first dimension and pads it with the fill value. Returns its region of the
 * array, or undefined if it lacks other items too.
 */
function cutAt(length: number, { coords, region, assembly, missing }: OpenChunk): Region | undefined {
  const [from = 0, ...start] = region.start;
  const [rows = 0, ...shape] = region.shape;
  const rest = { start: [length, ...start], shape: [from + rows - length, ...shape] };
  if (missing !== product(rest.shape)) return undefined;
  assembly.add({ index: 0, coords, region: rest, data: undefined }, rest);
  return { start: region.start, shape: [length - from, ...shape] };
}

/** Bytes of a pooled buffer that holds a chunk of a window, decoded and then encoded in place. */
export function regridFootprint({ decodedSize, maxEncodedSize }: Omit<ChunkSizes, "scratchSize">): number {
  return pooledSize(Math.max(decodedSize, maxEncodedSize));
}

/** The chunks of `chunkShape` that a region of items touches, as a box of coords. */
export function chunksTouched({ start, shape }: Region, chunkShape: readonly number[]): Region {
  const first = start.map((from, d) => Math.floor(from / (chunkShape[d] ?? 1)));
  const last = start.map((from, d) => Math.floor((from + (shape[d] ?? 1) - 1) / (chunkShape[d] ?? 1)));
  return { start: first, shape: last.map((chunk, d) => chunk - (first[d] ?? 0) + 1) };
}

/** Coords of all chunks of `chunkShape` that `region` touches, in C order; each is a new array. */
export function* chunksIn(region: Region, chunkShape: readonly number[]): Generator<number[]> {
  if (product(region.shape) === 0) return;
  yield* coordsIn(chunksTouched(region, chunkShape));
}

/** All coords in a box, in C order; each is a new array. */
export function* coordsIn({ start, shape }: Region): Generator<number[]> {
  for (const at of coordsOf(shape)) yield at.map((c, d) => c + (start[d] ?? 0));
}
