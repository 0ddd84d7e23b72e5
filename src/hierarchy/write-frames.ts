import type { DataType } from "../meta/data-type.ts";
import type { DecodedChunk } from "../streams/chunk.ts";
import { TransformStream } from "../streams/web.ts";
import { ZarrflowError } from "../util/errors.ts";
import { product } from "../util/shape.ts";
import { chunkDataOf, countItems, type Values } from "./write-values.ts";

/** An array that grows along its first dimension. Every `ArrayWriter` is one. */
export interface GrowingArray {
  readonly path: string;
  readonly shape: readonly number[];
  readonly metadata: { readonly dataType: DataType };
  /** Makes the first dimension `length` items long, if it is shorter. */
  grow(length: number): void;
}

/**
 * Places frames one after another along an array's first dimension, behind what it has there: each becomes a piece
 * that says which region it is, for `regrid` with `growing`. A frame is the values of one or more items of that
 * dimension, whole in all others; it must not be changed any more. The array has grown by all of them when the stream
 * ends.
 *
 * @throws `invalid-option` for a frame of another type, or of a part of an item.
 */
export function placeFrames(array: GrowingArray): TransformStream<Values, DecodedChunk> {
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
  return new ZarrflowError("invalid-option", "a frame is not whole", {
    path,
    expected: `a multiple of ${frameItems} items`,
    found: `${found} items`,
  });
}
