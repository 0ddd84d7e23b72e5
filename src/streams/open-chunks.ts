import type { FixedData } from "../codecs/chunk-data.ts";
import { copyShared, heapBox } from "../codecs/kernels/heap-box.ts";
import type { HeapBox } from "../codecs/kernels/kernel-types.ts";
import { product } from "../util/shape.ts";
import type { Assembly } from "./assembly.ts";
import type { DecodedChunk, Region } from "./chunk.ts";
import { boxInPiece, intersect, type Selection } from "./selection.ts";

/** A box of target items that is being filled. */
export interface OpenBox {
  readonly region: Region;
  readonly assembly: Assembly;
}

/**
 * The boxes of a grid that a piece touches. Consecutive pieces often touch the same boxes, so these are kept between
 * them: finding out what to copy takes longer than the copy.
 */
export class OpenChunks<B extends OpenBox> {
  readonly boxes: readonly B[];
  readonly #coords: Region;
  /** Targets of all boxes, for items of one size; undefined if the kernels cannot copy to all of them. */
  #targets: HeapBox | undefined;
  #itemSize = 0;

  /** @param coords the coords of the boxes in the grid */
  constructor(coords: Region, boxes: readonly B[]) {
    this.#coords = coords;
    this.boxes = boxes;
  }

  areAt({ start, shape }: Region): boolean {
    const own = this.#coords;
    return start.every((from, d) => from === own.start[d] && shape[d] === own.shape[d]);
  }

  /**
   * Copies the piece's `items` of the target to all boxes, in one call of the kernels.
   *
   * @returns false, with nothing copied, if the kernels cannot do it
   */
  addSync(piece: DecodedChunk, items: Region, selection: Selection): boolean {
    const { data } = piece;
    if (data?.kind !== "fixed") return false;
    const { bytes, strides, itemSize } = data;
    const source = heapBox(bytes, items, boxInPiece(piece, strides, items, selection), itemSize);
    if (source === undefined) return false;
    if (itemSize !== this.#itemSize) {
      this.#itemSize = itemSize;
      this.#targets = this.#findTargets(data, source.length);
    }
    if (this.#targets === undefined) return false;
    copyShared(source, this.#targets, itemSize);
    return true;
  }

  #findTargets(items: FixedData, length: number): HeapBox | undefined {
    const targets = new Float64Array(this.boxes.length * length);
    for (const [i, { assembly }] of this.boxes.entries()) {
      const target = assembly.boxFor?.(items);
      if (target === undefined) return undefined;
      targets.set(target, i * length);
    }
    return targets;
  }
}

/**
 * Adds to a box the `items` of a piece that belong to it.
 *
 * @returns the number of these items
 */
export function addShared({ region, assembly }: OpenBox, piece: DecodedChunk, items: Region): number {
  const shared = intersect(items, region);
  if (shared === undefined) return 0;
  assembly.add(piece, shared);
  return product(shared.shape);
}
