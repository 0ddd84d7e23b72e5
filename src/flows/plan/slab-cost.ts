import { gridShape } from "../../meta/array-metadata.ts";
import { product } from "../../util/shape.ts";
import { countTouched } from "./chunk-visits.ts";
import { costOf } from "./costs.ts";
import { gridSide } from "./grid-side.ts";
import type { Cost, GridSide } from "./plan.ts";
import type { SlabRequest } from "./slabs.ts";
import { itemBytes } from "./task-memory.ts";

/** A request for slabs of a given shape. */
export interface ShapedSlabs extends SlabRequest {
  readonly slabShape: readonly number[];
}

/** Predicts the cost of reading slabs straight from the source, which reads `chunksRead` chunks. */
export function costOfSlabs(request: ShapedSlabs, chunksRead: number): Cost {
  const tasks = product(gridShape(request.selection.shape, request.slabShape));
  const memory = { leaseBytes: request.maxMemory, expectedBytes: request.maxMemory };
  const windows = { window: [], readAhead: 1, ...memory, chunksRead };
  return costOf({ ...slabCostRequest(request), windows, tasks });
}

/** Builds the cost request for slabs: one thread that reads chunks and writes none. */
export function slabCostRequest({
  array,
  pipeline,
  selection,
  slabShape,
  maxMemory,
  concurrency,
}: ShapedSlabs) {
  const { metadata, shards, layout } = array;
  const { chunkShape } = metadata.chunkGrid;
  const shardShape = shards && chunkShape.map((n, d) => n * (shards.chunksPerShard[d] ?? 1));
  const source = gridSide({ zarrFormat: layout.zarrFormat, metadata, chunkShape, shardShape }, pipeline);
  const { shardShape: _, decodesParts: __, ...plain } = source;
  const target: GridSide = {
    ...plain,
    shape: selection.shape,
    chunkShape: slabShape,
    codecs: [],
    decodedSize: Math.ceil(product(slabShape) * itemBytes(source)),
    maxEncodedSize: 0,
    scratchSize: 0,
    pooledScratchSize: 0,
  };
  const threads = { maxMemory, tasksAtOnce: 1, threads: 1, concurrency, profiles: {} };
  const chunksTouched = countTouched(selection, chunkShape);
  const items = product(selection.shape);
  return { sides: { source, target }, items, chunksTouched, chunksWritten: 0, ...threads };
}
