import type { CodecPipeline } from "../../codecs/codec.ts";
import { type ArrayMetadata, gridShape, type ZarrFormat } from "../../meta/array-metadata.ts";
import { decodesParts, slowestClass } from "../../meta/codec-cost.ts";
import { isFixed } from "../../meta/data-type.ts";
import { describeCodec, describeDataType } from "../../meta/describe.ts";
import { pooledSize } from "../../streams/buffer-pool.ts";
import type { Selection } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";
import { costOf } from "./costs.ts";
import type { ArrayJob, Cost, GridSide } from "./plan.ts";
import { type StagedRequest, stagedWindows } from "./staged-windows.ts";
import { staged } from "./strategies/staged.ts";
import { itemBytes, pieceBytes } from "./task-memory.ts";

export interface StagedSlabsRequest {
  /** The array by the chunks that are read of it. */
  readonly array: {
    readonly path: string;
    readonly metadata: ArrayMetadata;
    readonly layout: { readonly zarrFormat: ZarrFormat };
    readonly shards?: { readonly chunksPerShard: readonly number[] } | undefined;
  };
  readonly pipeline: CodecPipeline;
  readonly selection: Selection;
  readonly slabShape: readonly number[];
  readonly maxMemory: number;
  readonly io: number;
}

/** Slabs that are read from scratch objects, as the target chunks of a job. */
export interface StagedSlabs {
  readonly job: ArrayJob;
  /** Tasks of each pass. */
  readonly stages: readonly number[];
  /** Bytes that a piece in flight may hold. */
  readonly bytesPerPiece: number;
  readonly cost: Cost;
}

const MAX_PASSES = 4;
const NEAR = { source: false, target: false, scratch: false };

/** What it costs to read slabs straight from the source, which reads `chunksRead` chunks. */
export function costOfSlabs(request: StagedSlabsRequest, chunksRead: number): Cost {
  const tasks = product(gridShape(request.selection.shape, request.slabShape));
  const memory = { leaseBytes: request.maxMemory, expectedBytes: request.maxMemory };
  const windows = { window: [], readAhead: 1, ...memory, chunksRead };
  return costOf({ ...alone(request), windows, tasks });
}

/** The ways through scratch objects to slabs of a shape that fit the budget. */
export function* stagedSlabs(request: StagedSlabsRequest): Generator<StagedSlabs> {
  const { array, pipeline, selection, slabShape } = request;
  const { sides } = alone(request);
  const slabBytes = pooledSize(sides.target.decodedSize);
  // One slab is in the caller's hands while the next is made.
  const maxMemory = request.maxMemory - slabBytes;
  const search: StagedRequest = {
    ...request,
    sides,
    maxMemory,
    writerBytes: 0,
    collectsShards: false,
    volume: slabBytes,
    maxPasses: MAX_PASSES,
    isVariable: !isFixed(pipeline.spec.dataType),
  };
  const tasks = product(gridShape(selection.shape, slabShape));
  for (const sized of stagedWindows(search)) {
    const { windows, passes } = sized;
    const cost = costOf({ ...alone(request), ...sized, tasks });
    const job: ArrayJob = {
      path: array.path,
      targetPath: array.path,
      dataType: describeDataType(array.metadata.dataType),
      strategy: staged.name,
      ...sides,
      selection,
      ...windows,
      passes: passes.map((pass) => ({ ...pass, firstTask: 0 })),
      firstTask: 0,
      tasks,
      chunksWritten: 0,
      notTaken: [],
    };
    const bytesPerPiece = pieceBytes(job, passes.length - 1);
    yield { job, stages: passes.map((pass) => pass.tasks), bytesPerPiece, cost };
  }
}

/** What a cost is asked of: one thread that reads chunks and writes none. */
function alone({ array, pipeline, selection, slabShape, maxMemory, io }: StagedSlabsRequest) {
  const { metadata, shards, layout } = array;
  const { chunkShape } = metadata.chunkGrid;
  const source: GridSide = {
    zarrFormat: layout.zarrFormat,
    chunkKeyEncoding: metadata.chunkKeyEncoding,
    shape: metadata.shape,
    chunkShape,
    ...(shards && { shardShape: chunkShape.map((n, d) => n * (shards.chunksPerShard[d] ?? 1)) }),
    codecs: metadata.codecs.map(describeCodec),
    compression: slowestClass(metadata.codecs),
    ...(decodesParts(metadata.codecs) && { decodesParts: true }),
    decodedSize: pipeline.decodedSize,
    maxEncodedSize: pipeline.maxEncodedSize,
    scratchSize: pipeline.scratchSize,
    pooledScratchSize: pipeline.pooledScratchSize,
  };
  const { shardShape: _, decodesParts: __, ...plain } = source;
  const target: GridSide = {
    ...plain,
    shape: selection.shape,
    chunkShape: slabShape,
    codecs: [],
    compression: "none",
    decodedSize: Math.ceil(product(slabShape) * itemBytes(source)),
    maxEncodedSize: 0,
    scratchSize: 0,
    pooledScratchSize: 0,
  };
  const threads = { maxMemory, tasksAtOnce: 1, threads: 1, io, remote: NEAR };
  return { sides: { source, target }, items: product(selection.shape), chunksWritten: 0, ...threads };
}
