import type { ChunkData } from "../../codecs/chunk-data.ts";
import { fillData } from "../../codecs/filled-data.ts";
import { maxStoredSize } from "../../codecs/limits.ts";
import type { ZarrArray } from "../../hierarchy/node.ts";
import type { Region } from "../../streams/chunk.ts";
import { decodeChunks } from "../../streams/decode-chunks.ts";
import { narrowRefs } from "../../streams/narrow-refs.ts";
import { readChunks } from "../../streams/read-chunks.ts";
import { regrid } from "../../streams/regrid.ts";
import type { Buffers } from "../../util/buffers.ts";
import { cStrides } from "../../util/shape.ts";
import { chunksOf } from "../slabs/selected-chunks.ts";

export interface ReadBoxOptions {
  readonly concurrency: number;
  readonly buffers: Buffers;
  readonly signal?: AbortSignal | undefined;
}

/** Reads a box of an array in C order. The caller returns its buffer to the pool. */
export async function readBox(
  array: ZarrArray,
  { start, shape }: Region,
  { concurrency, buffers, signal }: ReadBoxOptions,
): Promise<ChunkData> {
  const pipeline = await array.pipeline();
  const selection = { start, step: start.map(() => 1), shape };
  const refs = narrowRefs(chunksOf(array, selection), selection, pipeline);
  const chunk = { ...pipeline.spec, shape };
  const reading = { concurrency, maxEncodedSize: maxStoredSize(pipeline), buffers, signal };
  const whole = readChunks(array, refs, reading)
    .pipeThrough(decodeChunks(array, { buffers }))
    .pipeThrough(regrid({ shape, chunk, strides: cStrides(shape) }, { selection, buffers }));
  let data: ChunkData | undefined;
  for await (const piece of whole) data = piece.data;
  return data ?? fillData(chunk, buffers);
}
