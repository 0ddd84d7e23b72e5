import type { ZarrArray } from "../hierarchy/node.ts";
import { gridShape } from "../meta/array-metadata.ts";
import { isFixed } from "../meta/data-type.ts";
import { describeCodec } from "../meta/describe.ts";
import { isListable } from "../stores/store.ts";
import { checkedOptions } from "../util/check-options.ts";
import { product } from "../util/shape.ts";
import type { ReadEventOptions } from "./events.ts";
import { type ArrayBelow, arraysBelow } from "./request/arrays-below.ts";
import type { PlanOptions } from "./request/flow.ts";
import type { FlowSource } from "./request/open-source.ts";

/** What there is to know of one array without decoding it. */
export interface ArrayInfo {
  /** Path below the node that was asked for; "" for that itself. */
  readonly path: string;
  readonly zarrFormat: string;
  readonly shape: readonly number[];
  readonly dataType: string;
  /** Shape of what one key holds: of a shard, where chunks lie in shards. */
  readonly chunkShape: readonly number[];
  /** Shape of the chunks in a shard; absent without shards. */
  readonly innerChunkShape?: readonly number[];
  /** The array's own, or those of the axes of the image it is a level of. */
  readonly dimensionNames: readonly (string | null)[] | null;
  readonly codecs: readonly string[];
  /** Chunks of the grid. */
  readonly chunks: number;
  /** Chunks that are stored; null where the store cannot list. */
  readonly chunksPresent: number | null;
  /** Bytes of the stored chunks; null where the store cannot list. */
  readonly storedBytes: number | null;
  /** Bytes of all items; null for items of varying size. */
  readonly logicalBytes: number | null;
  /** Logical by stored bytes; null where either is unknown or nothing is stored. */
  readonly ratio: number | null;
  readonly attributes: unknown;
}

export interface InfoOptions extends PlanOptions, ReadEventOptions {}

/** Describes an array, or every array of a group, from metadata and a listing. */
export async function* info(source: FlowSource, given: InfoOptions = {}): AsyncGenerator<ArrayInfo> {
  const options = checkedOptions(given);
  for await (const array of arraysBelow(source, options)) yield describeArray(array, options);
}

async function describeArray(
  { array, path, dimensionNames }: ArrayBelow,
  options: PlanOptions,
): Promise<ArrayInfo> {
  const { metadata } = array;
  const { dataType, chunkGrid } = metadata;
  const { innerChunkShape } = chunkGrid;
  const stored = await storedChunks(array, options);
  const logicalBytes = isFixed(dataType) ? product(metadata.shape) * dataType.size : null;
  return {
    path,
    zarrFormat: array.layout.zarrFormat,
    shape: metadata.shape,
    dataType: array.dataType,
    chunkShape: chunkGrid.chunkShape,
    ...(innerChunkShape && { innerChunkShape }),
    dimensionNames: dimensionNames ?? null,
    codecs: metadata.codecs.map(describeCodec),
    chunks: product(gridShape(metadata.shape, chunkGrid.chunkShape)),
    chunksPresent: stored?.count ?? null,
    storedBytes: stored?.bytes ?? null,
    logicalBytes,
    ratio: logicalBytes && stored?.bytes ? logicalBytes / stored.bytes : null,
    attributes: array.attributes,
  };
}

async function storedChunks(
  { store, layout, metadata }: ZarrArray,
  { signal }: PlanOptions,
): Promise<{ count: number; bytes: number } | undefined> {
  if (!isListable(store)) return undefined;
  const { chunkGrid, chunkKeyEncoding, shape } = metadata;
  const grid = gridShape(shape, chunkGrid.chunkShape);
  let count = 0;
  let bytes = 0;
  for await (const { key, size } of store.list(layout.chunksPrefix, { signal })) {
    const coords = layout.parseChunkKey(key, shape.length, chunkKeyEncoding);
    if (!coords?.every((c, d) => c < (grid[d] ?? 0))) continue;
    count++;
    bytes += size ?? (await store.size(key, { signal })) ?? 0;
  }
  return { count, bytes };
}
