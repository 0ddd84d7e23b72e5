import type { ChunkData } from "../codecs/chunk-data.ts";
import type { ChunkSpec } from "../codecs/codec.ts";
import { fillData } from "../codecs/filled-data.ts";
import { type Buffers, plainBuffers } from "../util/bytes.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import { cStrides } from "../util/shape.ts";
import type { DecodedChunk, Region } from "./chunk.ts";
import { beginAssembly } from "./regrid.ts";
import { type Selection, wholeSelection } from "./selection.ts";

export interface DenseDataOptions {
  /** The items to take, in coordinates of `selection`; by default all items of the chunk that belong to the array. */
  readonly region?: Region | undefined;
  /** The selection that `region` is part of; the whole array by default. */
  readonly selection?: Selection | undefined;
  readonly buffers?: Buffers | undefined;
}

const DENSE_OPTIONS: OptionNames<DenseDataOptions> = {
  region: true,
  selection: true,
  buffers: true,
};

/**
 * Copies the items of a chunk that belong to the array, in C order, to a buffer that the caller owns. Items stored
 * beyond the edge of the array are left out; a missing chunk becomes items of the fill value.
 *
 * Gives back the chunk's own buffer and calls its `release`.
 *
 * @param spec the spec of the array's chunks (`pipeline().spec`)
 * @example
 * ```ts
 * import { openArray } from "zarrflow";
 * import { decodeChunks, denseData, readChunks } from "zarrflow/streams";
 *
 * const t2m = await openArray("era5.zarr/t2m");
 * const { spec } = await t2m.pipeline();
 * const first = { index: 0, coords: [0, 0, 0], region: { start: [0, 0, 0], shape: [24, 33, 49] } };
 * for await (const chunk of readChunks(t2m, [first]).pipeThrough(decodeChunks(t2m))) {
 *   const { bytes } = denseData(chunk, spec);
 *   console.log(new Float32Array(bytes.buffer).length); // 38808
 * }
 * ```
 */
export function denseData(piece: DecodedChunk, spec: ChunkSpec, options: DenseDataOptions = {}): ChunkData {
  assertKnown(options, DENSE_OPTIONS);
  const { region = piece.region, buffers = plainBuffers } = options;
  const selection = options.selection ?? wholeSelection(region.shape);
  const { data } = piece;
  try {
    if (data && isDense(data, region, piece.region)) return data;
    const chunk = { ...spec, shape: region.shape };
    const assembly = beginAssembly({ chunk }, region, { selection, buffers });
    assembly.add(piece, region);
    if (data) buffers.give(data.bytes);
    return assembly.finish() ?? fillData(chunk, buffers);
  } finally {
    piece.release?.();
  }
}

/** True if the data are exactly the items of the region, in C order, and fill their buffer. */
function isDense(data: ChunkData, { shape }: Region, { shape: held }: Region): boolean {
  const { bytes } = data;
  if (!isSameList(shape, held) || !isSameList(shape, data.shape)) return false;
  if (bytes.byteLength !== bytes.buffer.byteLength) return false;
  return data.kind === "variable" || isSameList(data.strides, cStrides(shape));
}

function isSameList(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((n, i) => n === b[i]);
}
