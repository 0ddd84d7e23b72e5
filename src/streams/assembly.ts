import type { ChunkData, FixedData } from "../codecs/chunk-data.ts";
import type { HeapBox } from "../codecs/kernels/kernel-types.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { DecodedChunk, Region } from "./chunk.ts";

/** A target chunk that is being filled with items. */
export interface Assembly {
  /** Adds the items of `piece` that cover `region` of the target. The caller keeps ownership of the piece. */
  add(piece: DecodedChunk, region: Region): void;
  /**
   * Starts the chunk and returns the box to copy items of this size to. Call it only if you copy some of them there.
   * Undefined if such items can only be added with `add`.
   */
  boxFor?(items: FixedData): HeapBox | undefined;
  /** The data of an incomplete chunk, with its items in place; undefined until data have arrived. */
  readonly begun?: FixedData | undefined;
  /** Returns the data of the complete chunk, or undefined if all its pieces were missing chunks. */
  finish(): ChunkData | undefined;
}

/** The error for a piece with items of another type than the chunk's; `expected` and `found` describe the items. */
export function otherItems(piece: DecodedChunk, expected: string, found: string): ZarrflowError {
  return new ZarrflowError("invalid-option", "the items do not have the target's data type", {
    coords: piece.coords,
    expected,
    found,
  });
}
