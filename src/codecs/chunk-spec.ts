import type { ArrayMetadata } from "../meta/array-metadata.ts";
import type { ChunkSpec } from "./codec.ts";

/** What an array's codecs need to know about its chunks. */
export function chunkSpecOf({ chunkGrid, dataType, fillValue }: ArrayMetadata): ChunkSpec {
  return { shape: chunkGrid.chunkShape, dataType, fillValue: fillValue.bytes };
}
