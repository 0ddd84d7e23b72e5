import type { ArrayMetadata } from "../meta/array-metadata.ts";
import type { ChunkSpec } from "./codec.ts";

/** The spec of an array's chunks, for its codecs. */
export function chunkSpecOf({ chunkGrid, dataType, fillValue }: ArrayMetadata): ChunkSpec {
  return { shape: chunkGrid.chunkShape, dataType, fillValue: fillValue.bytes };
}
