import type { ChunkData } from "../../codecs/chunk-data.ts";
import { maxStoredSize } from "../../codecs/limits.ts";
import { assertWritable } from "../../stores/assertions.ts";
import type { WritableStore } from "../../stores/store.ts";
import type { Assembly } from "../../streams/assembly.ts";
import {
  type ChunkCodec,
  type ChunkRef,
  type ChunkStore,
  type DecodedChunk,
  type Region,
  withChunkContext,
} from "../../streams/chunk.ts";
import { encodeChunks } from "../../streams/encode-chunks.ts";
import { mapConcurrent } from "../../streams/map-concurrent.ts";
import { tooLarge } from "../../streams/read-options.ts";
import { beginAssembly, chunksIn } from "../../streams/regrid.ts";
import { chunkRegion, intersect, wholeSelection } from "../../streams/selection.ts";
import { streamFrom } from "../../streams/web.ts";
import { writeChunks } from "../../streams/write-chunks.ts";
import { type Buffers, plainBuffers } from "../../util/buffers.ts";
import { checkedOptions, isObject, type OptionNames } from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import { withChunkSeparator } from "../chunk-separator.ts";
import { assertArray, type ZarrArray } from "../node.ts";
import { assertOneStorage } from "../other-format.ts";
import { resolveSlice, type SliceOption } from "../slice-option.ts";
import { KeyMutex } from "./key-mutex.ts";
import { chunkDataOf, type Values } from "./values.ts";

/** A part of an array: a box, or ranges by dimension name or in order, as `slice` takes them, but without steps. */
export type RegionOption = Region | SliceOption;

export interface WriteRegionOptions {
  /** Requests in flight; 16 by default. */
  readonly io?: number;
  /** Stores chunks that hold nothing but the fill value too; by default they are removed. */
  readonly writeEmpty?: boolean;
  readonly signal?: AbortSignal | undefined;
}

const WRITE_REGION_OPTIONS: OptionNames<WriteRegionOptions> = {
  io: true,
  writeEmpty: true,
  signal: true,
};

/** An array that regions are written to. */
export type RegionTarget = Pick<ZarrArray, "metadata"> & ChunkStore<WritableStore> & ChunkCodec;

/**
 * Writes a part of an open array, in place. Chunks that it covers wholly are written without being read;
 * others are read, changed and written back; calls at once on one store do not undo one another. The values are the
 * caller's again when it resolves. After a failure, some chunks hold the new values and some the old ones.
 *
 * @throws `invalid-selection` for a region beyond the array; `invalid-option` for values of another type or number;
 *   `unsupported-operation` for a store that cannot be written; whatever the store throws, with path, coords and key.
 * @example
 * ```ts
 * import { openArray, writeRegion } from "zarrflow";
 *
 * const t2m = await openArray("era5.zarr/t2m");
 * await writeRegion(t2m, { time: [0, 2], latitude: 0, longitude: 0 }, new Float32Array([283.5, 284]));
 * ```
 */
export async function writeRegion(
  array: ZarrArray,
  region: RegionOption,
  values: Values,
  given: WriteRegionOptions = {},
): Promise<void> {
  const options = checkedOptions(given, WRITE_REGION_OPTIONS);
  assertArray(array);
  assertWritable(array.store);
  await assertOneStorage(array, { maxMetadata: array.reading.maxMetadata, signal: options.signal });
  const target = (await withChunkSeparator(array, options)) as ZarrArray<WritableStore>;
  const box = regionOf(region, target);
  const { dataType } = array.metadata;
  await writeBox(target, box, chunkDataOf(values, { dataType, shape: box.shape }), options);
}

/**
 * The box that an option means. @throws `invalid-selection`
 */
export function regionOf(
  option: RegionOption,
  { metadata, path }: Pick<RegionTarget, "metadata" | "path">,
): Region {
  if (!isRegion(option)) {
    const { selection } = resolveSlice(option, metadata, path, { exactBounds: true });
    if (selection.step.every((step) => step === 1)) return selection;
    throw new ZarrflowError("invalid-selection", "a region to write cannot have steps", { path });
  }
  const { start, shape } = option;
  const isInside =
    start.length === metadata.shape.length &&
    shape.length === metadata.shape.length &&
    metadata.shape.every((n, d) => isWithin(start[d], 0, n) && isWithin(shape[d], 0, n - (start[d] ?? 0)));
  if (isInside) return option;
  throw new ZarrflowError("invalid-selection", "the region is outside the array", {
    path,
    expected: `inside ${metadata.shape.join(" x ") || "a scalar"}`,
    found: `${shape.join(" x ")} items from ${start.join(", ")}`,
  });
}

function isRegion(option: RegionOption): option is Region {
  return isObject(option) && "start" in option && "shape" in option;
}

function isWithin(n: number | undefined, least: number, most: number): boolean {
  return n !== undefined && Number.isSafeInteger(n) && n >= least && n <= most;
}

interface WriteBoxOptions extends WriteRegionOptions {
  readonly buffers?: Buffers;
}

/** Writes the items of `data` to `region`; `data` stay the caller's. */
export async function writeBox(
  target: RegionTarget,
  region: Region,
  data: ChunkData,
  { io = 16, writeEmpty = false, signal, buffers = plainBuffers }: WriteBoxOptions,
): Promise<void> {
  const { shape, chunkGrid } = target.metadata;
  const { spec, strides } = await target.pipeline();
  const selection = wholeSelection(shape);
  const piece = { index: 0, coords: region.start, region, data };
  const turns = new KeyMutex(target.store);

  const refs = function* (): Generator<ChunkRef> {
    let index = 0;
    for (const coords of chunksIn(region, chunkGrid.chunkShape)) {
      yield { index: index++, coords, region: chunkRegion(coords, chunkGrid.chunkShape, shape) };
    }
  };
  const assemble = async (ref: ChunkRef, context: { signal: AbortSignal }): Promise<DecodedChunk> => {
    const release = await turns.take(target.chunkKey(ref.coords));
    const assembly = beginAssembly({ chunk: spec, strides }, ref.region, { selection, buffers });
    const part = intersect(region, ref.region);
    if (!part) return { ...ref, data: undefined, release };
    if (!covers(part, ref.region)) await addRest(assembly, ref, part, context.signal);
    assembly.add(piece, part);
    return { ...ref, data: assembly.finish(), release };
  };
  /** Adds what the chunk holds already outside of `part`. */
  const addRest = async (assembly: Assembly, ref: ChunkRef, part: Region, partSignal: AbortSignal) => {
    const stored = await readChunk(target, ref, buffers, partSignal);
    for (const box of boxesAround(part, ref.region)) assembly.add(stored, box);
    if (stored.data) buffers.give(stored.data.bytes);
  };

  try {
    await streamFrom(refs())
      .pipeThrough(mapConcurrent(assemble, { concurrency: io, signal }))
      .pipeThrough(encodeChunks(target, { buffers, writeEmpty }))
      .pipeTo(writeChunks(target, { buffers, concurrency: io, removeMissing: true, signal }));
  } finally {
    turns.endAll();
  }
}

async function readChunk(
  target: RegionTarget,
  ref: ChunkRef,
  buffers: Buffers,
  signal: AbortSignal,
): Promise<DecodedChunk> {
  const key = target.chunkKey(ref.coords);
  if (target.store.singleWriter) throw cannotReadBack(target, ref);
  try {
    const pipeline = await target.pipeline();
    const limit = maxStoredSize(pipeline);
    const allocate = (size: number) => {
      if (size > limit) throw tooLarge(size, limit);
      return buffers.take(size);
    };
    const bytes = await target.store.get(key, { isLeaf: true, signal, allocate });
    const data = bytes && (await pipeline.decode(bytes, buffers));
    return { ...ref, data };
  } catch (error) {
    throw withChunkContext(error, target, { coords: ref.coords, key });
  }
}

/** The boxes that make up `outer` without `inner`, which lies inside it. */
function* boxesAround(inner: Region, outer: Region): Generator<Region> {
  let { start, shape } = outer;
  for (let d = 0; d < start.length; d++) {
    const from = start[d] ?? 0;
    const first = inner.start[d] ?? 0;
    const count = inner.shape[d] ?? 0;
    const end = from + (shape[d] ?? 0);
    if (first > from) yield { start, shape: shape.with(d, first - from) };
    if (first + count < end) {
      yield { start: start.with(d, first + count), shape: shape.with(d, end - first - count) };
    }
    start = start.with(d, first);
    shape = shape.with(d, count);
  }
}

function covers(part: Region, whole: Region): boolean {
  return product(part.shape) === product(whole.shape);
}

function cannotReadBack({ store, path }: RegionTarget, { coords }: ChunkRef): ZarrflowError {
  return new ZarrflowError(
    "unsupported-operation",
    "a chunk cannot be written in parts: this store cannot read it back",
    {
      store: store.description,
      path,
      coords,
      hint: "Write regions of whole chunks, or append.",
    },
  );
}
