/**
 * The stages that every flow is made of, as WHATWG streams.
 *
 * @module
 */
export { BufferPool } from "./buffer-pool.ts";
export { ByteBudget, type Lease } from "./byte-budget.ts";
export type { ChunkCoding, ChunkPlace, ChunkRef, DecodedChunk, EncodedChunk, Region } from "./chunk.ts";
export { type CodedChunk, codecStream } from "./codec-stream.ts";
export { type CodingOptions, decodeChunks } from "./decode-chunks.ts";
export { type EncodeOptions, encodeChunks } from "./encode-chunks.ts";
export { type MapConcurrentOptions, mapConcurrent } from "./map-concurrent.ts";
export { type ReadChunksOptions, readChunks } from "./read-chunks.ts";
export { type RegridOptions, type RegridTarget, regrid } from "./regrid.ts";
export { reorder } from "./reorder.ts";
export type { Selection } from "./selection.ts";
export { type WriteChunksOptions, writeChunks } from "./write-chunks.ts";
