import type { CodecPipeline } from "../codecs/codec.ts";
import { coordsOf } from "../util/shape.ts";
import type { ChunkRef, Region, ShardGrid } from "./chunk.ts";
import {
  axesOver,
  type ChunkRun,
  chunkRegion,
  chunksHit,
  intersect,
  itemAt,
  type Selection,
  selectedRegions,
  wholeSelection,
} from "./selection.ts";

/** A grid of chunks, possibly in shards. Every opened array has one. */
export interface ShardedGrid {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Absent without shards. */
  readonly shards?: Pick<ShardGrid, "chunksPerShard"> | undefined;
}

/**
 * Yields the chunks that a selection touches, in C order; chunks in shards shard by shard.
 *
 * @param selection the whole array by default
 * @param items part of the selection's result; all of it by default
 */
export function* chunkRefs(
  { shape, chunkShape, shards }: ShardedGrid,
  selection: Selection = wholeSelection(shape),
  items?: Region,
): Generator<ChunkRef> {
  const hit = axesOver(selection, chunkShape).map((axis, d) =>
    chunksHit(axis, items?.start[d] ?? 0, items?.shape[d] ?? axis.count),
  );
  let index = 0;
  for (const inShard of shards ? shardBoxes(hit, shards.chunksPerShard) : [hit]) {
    for (const at of coordsOf(inShard.map(({ count }) => count))) {
      const coords = at.map((i, d) => inShard[d]?.at(i) ?? 0);
      yield { index: index++, coords, region: chunkRegion(coords, chunkShape, shape) };
    }
  }
}

/** Yields the same chunks, narrowed to the part with the selected items if the codecs can decode parts of a chunk. */
export function* narrowRefs(
  refs: Iterable<ChunkRef>,
  selection: Selection,
  { partOf }: Pick<CodecPipeline, "partOf">,
): Generator<ChunkRef> {
  if (partOf === undefined) {
    yield* refs;
    return;
  }
  for (const ref of refs) {
    const { start } = ref.region;
    const [selected, other] = selectedRegions(selection, ref.region);
    const part = selected && !other && partOf(boxOf(selection, selected, start));
    const region =
      part &&
      intersect(
        { start: start.map((from, d) => from + (part.start[d] ?? 0)), shape: part.shape },
        ref.region,
      );
    yield part && region ? { ...ref, region, part } : ref;
  }
}

/** The smallest box with all selected items of a chunk, relative to its `first` item. */
function boxOf(selection: Selection, selected: ChunkRef["region"], first: readonly number[]) {
  return {
    start: selected.start.map((at, d) => itemAt(selection, d, at) - (first[d] ?? 0)),
    shape: selected.shape.map((count, d) => (selection.step[d] ?? 1) * (count - 1) + 1),
  };
}

/** Yields the parts of a box of chunks that are in one shard each, in C order. Computes them without a list. */
function* shardBoxes(
  [run, ...runs]: readonly ChunkRun[],
  [perShard = 1, ...others]: readonly number[],
): Generator<readonly ChunkRun[]> {
  if (run === undefined) {
    yield [];
    return;
  }
  for (const part of shardRuns(run, perShard)) {
    for (const rest of shardBoxes(runs, others)) yield [part, ...rest];
  }
}

/** Yields the parts of a run that are in one shard each. */
function* shardRuns({ count, at }: ChunkRun, perShard: number): Generator<ChunkRun> {
  for (let first = 0; first < count; ) {
    const start = first;
    const end = (Math.floor(at(start) / perShard) + 1) * perShard;
    first = firstFrom({ count, at }, end, start + 1);
    yield { count: first - start, at: (index) => at(start + index) };
  }
}

/**
 * Returns the index, from `low`, of the first chunk of an ascending run at or after `chunk`; the run's count if
 * there is none.
 */
function firstFrom({ count, at }: ChunkRun, chunk: number, low: number): number {
  let [from, to] = [low, count];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (at(middle) < chunk) from = middle + 1;
    else to = middle;
  }
  return from;
}
