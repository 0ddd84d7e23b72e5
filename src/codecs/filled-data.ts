import { isFixed } from "../meta/data-type.ts";
import type { Buffers } from "../util/bytes.ts";
import { cStrides, product } from "../util/shape.ts";
import type { ChunkData } from "./chunk-data.ts";
import type { ChunkSpec } from "./codec.ts";

/** True if all items equal `item` byte for byte: -0.0 differs from 0.0, and NaNs with other bits differ. */
export function isFilled(data: ChunkData, item: Uint8Array): boolean {
  const { bytes } = data;
  if (data.kind === "fixed") {
    const { length } = item;
    if (bytes.length === 0) return true;
    for (let i = 0; i < length; i++) if (bytes[i] !== item[i]) return false;
    for (let i = length; i < bytes.length; i++) if (bytes[i] !== bytes[i - length]) return false;
    return true;
  }
  for (let i = 0; i + 1 < data.offsets.length; i++) {
    const start = data.offsets[i] ?? 0;
    if ((data.offsets[i + 1] ?? 0) - start !== item.length) return false;
    for (let b = 0; b < item.length; b++) if (bytes[start + b] !== item[b]) return false;
  }
  return true;
}

/** Creates items in C order that all have the fill value; if it is undefined, zeros or empty items. */
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

/** Fills `target`, whole items without gaps, with `item`, or with zeros if it is null. */
export function fillItems(target: Uint8Array, item: Uint8Array | null): void {
  const first = item?.[0] ?? 0;
  if (item === null || item.every((byte) => byte === first)) {
    target.fill(first);
    return;
  }
  target.set(item.subarray(0, target.length));
  for (let done = item.length; done < target.length; done *= 2)
    target.copyWithin(done, 0, Math.min(done, target.length - done));
}
