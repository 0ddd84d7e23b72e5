import type { ChunkData } from "../codecs/chunk-data.ts";
import type { ChunkSpec } from "../codecs/codec.ts";
import { fillItems } from "../codecs/kernels/copy-box.ts";
import { isFixed } from "../meta/data-type.ts";
import type { Buffers } from "../util/buffers.ts";
import { cStrides, product } from "../util/shape.ts";

/** Items in C order that are all the fill value; empty ones or zeros where it is undefined. */
export function fillData({ dataType, shape, fillValue }: ChunkSpec, buffers: Buffers): ChunkData {
  const count = product(shape);
  if (isFixed(dataType)) {
    const bytes = buffers.take(count * dataType.size);
    fillItems(bytes, fillValue);
    return { kind: "fixed", bytes, itemSize: dataType.size, shape, strides: cStrides(shape) };
  }
  const length = fillValue?.length ?? 0;
  const bytes = buffers.take(count * length);
  if (fillValue && length > 0) fillItems(bytes, fillValue);
  return {
    kind: "variable",
    bytes,
    offsets: Uint32Array.from({ length: count + 1 }, (_, i) => i * length),
    shape,
  };
}
