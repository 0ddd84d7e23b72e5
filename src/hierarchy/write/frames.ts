import { maxStoredSize } from "../../codecs/limits.ts";
import type { DataType } from "../../meta/data-type.ts";
import type { DataTypeName } from "../../meta/data-type-name.ts";
import type { WritableStore } from "../../stores/store.ts";
import type { ChunkCodec, ChunkRef, ChunkStore, DecodedChunk } from "../../streams/chunk.ts";
import { decodeChunks } from "../../streams/decode-chunks.ts";
import { encodeChunks } from "../../streams/encode-chunks.ts";
import { readChunks } from "../../streams/read-chunks.ts";
import { chunksIn, type RegridTarget, regrid } from "../../streams/regrid.ts";
import { chunkRegion } from "../../streams/selection.ts";
import { writeChunks } from "../../streams/write-chunks.ts";
import type { Buffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { invalid, isObject } from "../../util/options.ts";
import { product } from "../../util/shape.ts";
import { ReadableStream, streamFrom, TransformStream } from "../../util/web-streams.ts";
import { chunkDataOf, countItems, type Values } from "./values.ts";

/** Any number of frames, each with the values of one or more items of an array's first dimension. */
export type Frames<Name extends DataTypeName = DataTypeName> =
  | Iterable<Values<Name>>
  | AsyncIterable<Values<Name>>
  | ReadableStream<Values<Name>>;

/** An array that grows along its first dimension, such as any `ArrayWriter`. */
export interface GrowingArray {
  readonly path: string;
  readonly shape: readonly number[];
  readonly metadata: { readonly dataType: DataType };
  /** Extends the first dimension to `length` items, if it is shorter. */
  grow(length: number): void;
}

/**
 * Places frames one after another along an array's first dimension, after its existing items. Each becomes a chunk with
 * its region, for `regrid` with `growing`. A frame contains the values of one or more items of that dimension, complete
 * in all others, and must not change afterwards. The array grows by all frames when the stream ends.
 *
 * @throws `invalid-option` for a frame of another type, or with part of an item.
 */
export function placeFrames(array: GrowingArray): TransformStream<Values, DecodedChunk> {
  const isGrowing = isObject(array) && isObject(array.metadata) && Array.isArray(array.shape);
  if (!isGrowing) throw invalid("this is not an array that grows", "an ArrayWriter", array);
  const { dataType } = array.metadata;
  const [start, ...frameShape] = array.shape;
  const frameItems = product(frameShape);
  if (start === undefined || frameItems === 0) {
    throw new ZarrflowError(
      "invalid-option",
      "frames need an array with a first dimension and items beyond it",
      {
        path: array.path,
        found: array.shape.join(" x ") || "a scalar",
      },
    );
  }
  let end = start;
  let index = 0;
  return new TransformStream<Values, DecodedChunk>({
    transform(values, controller) {
      const rows = countItems(values, dataType) / frameItems;
      if (!Number.isInteger(rows)) throw partOfFrame(array, rows * frameItems, frameItems);
      if (rows === 0) return;
      const region = { start: [end, ...frameShape.map(() => 0)], shape: [rows, ...frameShape] };
      const data = chunkDataOf(values, { dataType, shape: region.shape });
      controller.enqueue({ index: index++, coords: region.start, region, data });
      end += rows;
    },
    flush() {
      array.grow(end);
    },
  });
}

function partOfFrame({ path }: GrowingArray, found: number, frameItems: number): ZarrflowError {
  return new ZarrflowError("invalid-option", "a frame is incomplete", {
    path,
    expected: `a multiple of ${frameItems} items`,
    found: `${found} items`,
  });
}

interface AppendOptions {
  readonly concurrency: number;
  readonly writeEmpty: boolean;
  readonly buffers: Buffers;
  readonly signal: AbortSignal;
}

type FrameTarget = GrowingArray & RegridTarget & ChunkStore<WritableStore> & ChunkCodec;

/** Appends frames to an array, one row of chunks after another. */
export async function appendFrames(
  array: FrameTarget,
  frames: Frames,
  { concurrency, writeEmpty, buffers, signal }: AppendOptions,
): Promise<void> {
  const begun = beginOfLastRow(array);
  const pieces = streamOf(frames).pipeThrough(placeFrames(array));
  const { readable, writable } = regrid(array, { growing: true, buffers });
  const written = readable
    .pipeThrough(encodeChunks(array, { buffers, writeEmpty }))
    .pipeTo(writeChunks(array, { buffers, concurrency, removeMissing: true, signal }), { signal });
  const feed = async () => {
    const maxEncodedSize = maxStoredSize(await array.pipeline());
    const stored = readChunks(array, begun, { maxEncodedSize, buffers }).pipeThrough(
      decodeChunks(array, { buffers }),
    );
    await stored.pipeTo(writable, { preventClose: true, signal });
    await pieces.pipeTo(writable, { signal });
  };
  for (const end of await Promise.allSettled([feed(), written])) {
    if (end.status === "rejected") throw end.reason;
  }
}

/** The chunks of a last row that is incomplete. */
function beginOfLastRow({ shape, chunk, store, path }: FrameTarget): ChunkRef[] {
  const [rows = 0, ...others] = shape;
  const begun = rows % (chunk.shape[0] ?? 1);
  const row = { start: [rows - begun, ...others.map(() => 0)], shape: [begun, ...others] };
  const coords = [...chunksIn(row, chunk.shape)];
  if (coords.length > 0 && store.singleWriter) {
    throw new ZarrflowError(
      "unsupported-operation",
      "the last chunks are written already and cannot be changed",
      {
        store: store.description,
        path,
        hint: `Append all frames in one call, or in calls of whole chunks of ${chunk.shape[0]}.`,
      },
    );
  }
  return coords.map((at, index) => ({ index, coords: at, region: chunkRegion(at, chunk.shape, shape) }));
}

/** Pulls from `frames`. Cancelling does not wait for a frame that is still pending. */
function streamOf(frames: Frames): ReadableStream<Values> {
  const source = (frames instanceof ReadableStream ? frames : streamFrom(frames)).getReader();
  return new ReadableStream<Values>(
    {
      async pull(controller) {
        const { done, value } = await source.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel(reason) {
        source.cancel(reason).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
