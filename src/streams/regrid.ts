import type { ChunkSpec } from "../codecs/codec.ts";
import { isFixed } from "../meta/data-type.ts";
import { type Buffers, plainBuffers } from "../util/buffers.ts";
import { ZarrflowError } from "../util/errors.ts";
import { cStrides, product } from "../util/shape.ts";
import { FixedAssembly } from "./assemble-fixed.ts";
import { VariableAssembly } from "./assemble-variable.ts";
import type { Assembly } from "./assembly.ts";
import type { DecodedChunk, Region } from "./chunk.ts";
import { chunkRegion, intersect, type Selection, selectedRegion, wholeSelection } from "./selection.ts";
import { TransformStream } from "./web.ts";

/** The grid that chunks are cut to. */
export interface RegridTarget {
  /** Shape of the whole target array. */
  readonly shape: readonly number[];
  /** What one target chunk is; `chunk.shape` is the full chunk shape. */
  readonly chunk: ChunkSpec;
  /** Layout of a target chunk, in items: what its codecs want (`CodecPipeline.strides`); C order by default. */
  readonly strides?: readonly number[];
}

export interface RegridOptions {
  /** What of the source becomes the target; all of it by default. */
  readonly selection?: Selection;
  /** The part of the target that is assembled, whole chunks; items beyond it are passed over. All by default. */
  readonly window?: Region;
  readonly buffers?: Buffers;
}

/**
 * Re-cuts chunks, or any boxes of items, to another grid: scatters each into the target chunks it touches, gives
 * its buffer back, and passes a target chunk on as soon as all of its items are there. Items are moved, their
 * values never looked at. Each source item must come exactly once.
 *
 * Memory: the target chunks that are begun and not complete. Feed whole windows of target chunks to bound it.
 *
 * @throws `invalid-option` for a piece of another rank or of other items than the target's, and when the stream ends
 *   and a target chunk lacks items; `resource-limit` for a chunk of variable data above 2 GiB.
 */
export function regrid(
  target: RegridTarget,
  { selection = wholeSelection(target.shape), window, buffers = plainBuffers }: RegridOptions = {},
): TransformStream<DecodedChunk, DecodedChunk> {
  const { chunk, shape } = target;
  const strides = target.strides ?? cStrides(chunk.shape);
  const open = new Map<string, { assembly: Assembly; region: Region; missing: number }>();
  let index = 0;

  const begin = (region: Region) => ({
    region,
    missing: product(region.shape),
    assembly: isFixed(chunk.dataType)
      ? new FixedAssembly({ chunk, region, strides, selection, buffers })
      : new VariableAssembly({ chunk, region, selection, buffers }),
  });

  return new TransformStream<DecodedChunk, DecodedChunk>({
    transform(piece, controller) {
      checkPiece(piece, shape.length);
      const selected = selectedRegion(selection, piece.region);
      const covered = selected && window ? intersect(selected, window) : selected;
      for (const coords of covered ? chunksIn(covered, chunk.shape) : []) {
        const name = coords.join();
        const entry = open.get(name) ?? begin(chunkRegion(coords, chunk.shape, shape));
        open.set(name, entry);
        const region = covered && intersect(covered, entry.region);
        if (!region) continue;
        entry.assembly.add(piece, region);
        entry.missing -= product(region.shape);
        if (entry.missing > 0) continue;
        open.delete(name);
        controller.enqueue({ index: index++, coords, region: entry.region, data: entry.assembly.finish() });
      }
      if (piece.data) buffers.give(piece.data.bytes);
      piece.release?.();
    },
    flush() {
      const [first] = open.keys();
      if (first === undefined) return;
      throw new ZarrflowError("invalid-option", `${open.size} target chunks lack items`, {
        coords: first === "" ? [] : first.split(",").map(Number),
        hint: "feed regrid every source chunk of the target chunks, once",
      });
    },
  });
}

function checkPiece({ coords, data, region }: DecodedChunk, rank: number): void {
  const holds = data?.shape ?? region.shape;
  if (region.shape.length === rank && region.shape.every((n, d) => n <= (holds[d] ?? 0))) return;
  throw new ZarrflowError("invalid-option", "a piece does not hold the region that it says", {
    coords,
    expected: `a region of rank ${rank} within its data`,
    found: `region ${region.shape.join(" x ")}, data ${holds.join(" x ")}`,
  });
}

/** Coords of all chunks of `chunkShape` that `region` touches. */
export function* chunksIn(region: Region, chunkShape: readonly number[]): Generator<number[]> {
  const first = region.start.map((from, d) => Math.floor(from / (chunkShape[d] ?? 1)));
  const counts = region.start.map((from, d) => {
    const last = from + (region.shape[d] ?? 0) - 1;
    return Math.floor(last / (chunkShape[d] ?? 1)) - (first[d] ?? 0) + 1;
  });
  const coords = [...first];
  const total = product(counts);
  for (let i = 0; i < total; i++) {
    yield [...coords];
    for (let d = coords.length - 1; d >= 0; d--) {
      coords[d] = (coords[d] ?? 0) + 1;
      if ((coords[d] ?? 0) < (first[d] ?? 0) + (counts[d] ?? 0)) break;
      coords[d] = first[d] ?? 0;
    }
  }
}
