import type { ChunkData, FixedData } from "../codecs/chunk-data.ts";
import type { HeapBox } from "../codecs/kernels/kernel-types.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { DecodedChunk, Region } from "./chunk.ts";

/** A target chunk while its items arrive. */
export interface Assembly {
  /** Takes the items of `piece` that lie in `region` of the target; the piece stays the caller's. */
  add(piece: DecodedChunk, region: Region): void;
  /**
   * Begins the chunk, and returns where items such as these are put: only for who copies some of them there. Undefined where
   * `add` alone does that.
   */
  boxFor?(items: FixedData): HeapBox | undefined;
  /** The data of a chunk that is not whole, in which its items have their places; undefined as long as there are none. */
  readonly begun?: FixedData | undefined;
  /** The whole chunk's data, or undefined when nothing but missing chunks went into it. */
  finish(): ChunkData | undefined;
}

/** The error for a piece whose items cannot go into the chunk; `expected` and `found` say what items are. */
export function otherItems(piece: DecodedChunk, expected: string, found: string): ZarrflowError {
  return new ZarrflowError("invalid-option", "the items do not have the target's data type", {
    coords: piece.coords,
    expected,
    found,
  });
}
