import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { DataTypeName } from "../../meta/data-type-name.ts";
import { assertWritable } from "../../stores/assertions.ts";
import type { WritableStore } from "../../stores/store.ts";
import type { Region } from "../../streams/chunk.ts";
import { chunksIn } from "../../streams/regrid.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { checkedOptions, isObject, type OptionNames } from "../../util/options.ts";
import { withChunkSeparator } from "../chunk-separator.ts";
import { assertArray, forgetIndexes, type TypedZarrArray, type ZarrArray } from "../node.ts";
import { assertOneStorage } from "../other-format.ts";
import { resolveSlice, type SliceOption } from "../slice-option.ts";
import {
  addPiece,
  beginDraft,
  type ChunkDraft,
  type WriteDraftsOptions,
  type WrittenArray,
  writeDrafts,
} from "./chunk-draft.ts";
import { chunkDataOf, type Values } from "./values.ts";

/** Part of an array: a box, or ranges without steps by dimension name or in order, as `slice` takes them. */
export type RegionOption = Region | SliceOption;

export interface WriteRegionOptions {
  /** Maximum number of requests in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  /** Stores chunks that contain only the fill value too; by default they are removed. */
  readonly writeEmptyChunks?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const WRITE_REGION_OPTIONS: OptionNames<WriteRegionOptions> = {
  concurrency: true,
  writeEmptyChunks: true,
  signal: true,
};

/** An array that regions are written to. */
export type RegionTarget = Pick<ZarrArray, "metadata"> & WrittenArray;

/**
 * Writes part of an open array in place. Chunks that the region covers completely are written without being read;
 * others are read, changed and written back. Concurrent calls on one store keep each other's changes. The caller may
 * reuse the values once the promise resolves. After a failure, some chunks contain the new values and some the old
 * ones.
 *
 * @throws `invalid-selection` for a region beyond the array; `invalid-option` for values of the wrong type or number;
 *   `unsupported-operation` if the store is not writable; whatever the store throws, with path, coords and key.
 * @example
 * ```ts
 * import { openArray, writeRegion } from "zarrflow";
 *
 * const t2m = await openArray("era5.zarr/t2m");
 * await writeRegion(t2m, { time: [0, 2], latitude: 0, longitude: 0 }, new Float32Array([283.5, 284]));
 * ```
 */
export async function writeRegion<Name extends DataTypeName = DataTypeName>(
  array: TypedZarrArray<Name>,
  region: RegionOption,
  values: Values<Name>,
  given: WriteRegionOptions = {},
): Promise<void> {
  const options = checkedOptions(given, WRITE_REGION_OPTIONS);
  assertArray(array);
  assertWritable(array.store);
  await assertOneStorage(array, { maxMetadata: array.reading.maxMetadata, signal: options.signal });
  const target = (await withChunkSeparator(array, options)) as ZarrArray<DataTypeName, WritableStore>;
  const box = regionOf(region, target);
  const { dataType } = array.metadata;
  try {
    await writeBox(target, box, chunkDataOf(values, { dataType, shape: box.shape }), options);
  } finally {
    forgetIndexes(array);
  }
}

/** Resolves an option to a box. @throws `invalid-selection` */
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

/** Writes the items of `data` to `region` without taking ownership of `data`. */
export async function writeBox(
  target: RegionTarget,
  region: Region,
  data: ChunkData,
  options: WriteDraftsOptions,
): Promise<void> {
  const { shape } = target.metadata;
  const { spec: chunk, strides } = await target.pipeline();
  const piece = { index: 0, coords: region.start, region, data };
  const drafts = function* (): Generator<ChunkDraft> {
    for (const coords of chunksIn(region, chunk.shape)) {
      const draft = beginDraft({ shape, chunk, strides }, coords, options.buffers ?? plainBuffers);
      addPiece(draft, piece);
      yield draft;
    }
  };
  await writeDrafts(target, drafts(), options);
}
