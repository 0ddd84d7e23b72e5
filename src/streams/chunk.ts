import type { ChunkData } from "../codecs/chunk-data.ts";

/** A box in array coordinates, in items. */
export interface Region {
  readonly start: readonly number[];
  readonly shape: readonly number[];
}

/** Where a chunk belongs. `region` is cut at the array's edge; `index` counts within its stream, from 0. */
export interface ChunkRef {
  readonly index: number;
  readonly coords: readonly number[];
  readonly key: string;
  readonly region: Region;
}

/** A chunk as it is stored; `bytes: undefined` is a missing chunk, which reads as the fill value. */
export interface EncodedChunk extends ChunkRef {
  readonly bytes: Uint8Array | undefined;
}

/** A chunk's items; `data: undefined` is a missing chunk. `data.shape` is the full chunk shape, also at edges. */
export interface DecodedChunk extends ChunkRef {
  readonly data: ChunkData | undefined;
}
