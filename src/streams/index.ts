/**
 * The stages that all flows are made of, as WHATWG streams.
 *
 * @module
 */
export { BufferPool } from "./buffer-pool.ts";
export { ByteBudget, type Lease } from "./byte-budget.ts";
export type {
  ChunkCodec,
  ChunkLocation,
  ChunkRef,
  ChunkStore,
  DecodedChunk,
  EncodedChunk,
  Region,
  ShardGrid,
} from "./chunk.ts";
export type { ReadChunksOptions } from "./chunk-reader.ts";
export { type CodedChunk, codecStream } from "./codec-stream.ts";
export { type CodingOptions, type DenseDataOptions, decodeChunks, denseData } from "./decode-chunks.ts";
export { type EncodeOptions, encodeChunks } from "./encode-chunks.ts";
export { type MapConcurrentOptions, mapConcurrent } from "./map-concurrent.ts";
export { readChunks } from "./read-chunks.ts";
export { type RegridOptions, type RegridTarget, regrid } from "./regrid.ts";
export { reorder } from "./reorder.ts";
export type { Selection } from "./selection.ts";
export type { WriteChunksOptions } from "./write-chunks.ts";
export { writeChunks } from "./write-chunks.ts";
